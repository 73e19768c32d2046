/**
 * Small files in flat folders, so that `ls` is a table of contents. The linter checks the limit only where it is run.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const MEDIAN = 100
const CAP = 300

/** The entries of the package. */
const SHARED_NAMES = ['index.ts']

function filesUnder(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesUnder(`${folder}/${entry.name}`) : [`${folder}/${entry.name}`],
  )
}

/** Lines that are not blank and not inside a comment that begins a line. */
function codeLines(source: string): number {
  const code = source.replace(/^\s*\/\*[\s\S]*?\*\//gm, '').replace(/^\s*\/\/.*$/gm, '')
  return code.split('\n').filter((line) => line.trim() !== '').length
}

const sources = filesUnder('src').filter((file) => /\.tsx?$/.test(file))
const tests = filesUnder('test').filter((file) => file.endsWith('.ts'))
const sizeOf = (file: string): number => codeLines(readFileSync(join(root, file), 'utf8'))

describe('source files', () => {
  it('count code, not comments and blank lines', () => {
    expect(codeLines('/**\n * role\n */\nconst a = 1 // why\n\n  // reason\nconst b = 2\n')).toBe(2)
  })

  it(`hold at most ${CAP} lines of code, tests too`, () => {
    const tooLong = [...sources, ...tests].filter((file) => sizeOf(file) > CAP)
    expect(tooLong).toEqual([])
  })

  it(`hold at most ${MEDIAN} lines of code in the median`, () => {
    const sizes = sources.map(sizeOf).toSorted((a, b) => a - b)
    expect(sizes[Math.floor(sizes.length / 2)]).toBeLessThanOrEqual(MEDIAN)
  })

  it('have names of their own, so that a name says which file is meant', () => {
    const names = sources.map((file) => basename(file)).filter((name) => !SHARED_NAMES.includes(name))
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  it('lie in src/<part>, or in a room of capabilities, activities, cli, models, store or web', () => {
    const tooDeep = sources.filter(
      (file) =>
        !/^src\/([^/]+\/)?[^/]+$|^src\/(capabilities|activities|cli|models|store|web)\/[^/]+\/[^/]+$/.test(file),
    )
    expect(tooDeep).toEqual([])
  })
})
