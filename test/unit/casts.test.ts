/** The recorded terminals of the documents: whole, small, shown somewhere, and without a trace of the machine. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FOLDER = join(ROOT, 'docs/casts')
const LARGEST = 300 * 1024
/** Paths of a machine that are no paths of the package, names of hosts, keys. */
const TRACES = /\/(?:root|home|tmp|work|var|Users)\/|\b\w+@\w+:|sk-\w{8}|authorization/i
/** A variable, since scripts have no types. */
const SCRIPT: string = '../../scripts/cast-svg.mjs'
const casts = readdirSync(FOLDER).filter((file) => file.endsWith('.cast'))
const documents = ['README.md', ...readdirSync(join(ROOT, 'docs')).filter((file) => file.endsWith('.md'))]
const text = documents
  .map((file) => readFileSync(join(ROOT, file.includes('README') ? '' : 'docs', file), 'utf8'))
  .join('\n')
const { renderCast } = (await import(SCRIPT)) as { renderCast(cast: string): Promise<string> }

describe.each(casts)('docs/casts/%s', (file) => {
  const cast = readFileSync(join(FOLDER, file), 'utf8')
  const [header, ...events] = cast
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)

  it('is asciicast v2, with times that never go back', () => {
    expect(header).toEqual({
      version: 2,
      width: expect.any(Number),
      height: expect.any(Number),
      title: expect.any(String),
    })
    const times = (events as [number, string, string][]).map(([at, kind, data]) => {
      expect([kind, typeof data]).toEqual(['o', 'string'])
      return at
    })
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  it('tells nothing of the machine that recorded it', () => {
    expect(TRACES.exec(cast)?.[0]).toBeUndefined()
  })

  it('is what its SVG shows, which is small and is shown in a document', async () => {
    const svg = file.replace(/cast$/, 'svg')
    const drawn = readFileSync(join(FOLDER, svg), 'utf8')
    expect(drawn === (await renderCast(cast)), `${svg} is not drawn from ${file}: npm run casts`).toBe(true)
    expect(Math.max(drawn.length, cast.length)).toBeLessThan(LARGEST)
    expect(text).toMatch(new RegExp(`!\\[[^\\]]+\\]\\((?:docs/)?casts/${svg}\\)`))
    expect(text).toContain(`casts/${file})`)
  })
})
