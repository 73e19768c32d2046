/** The examples of docstrings, which people copy. `tsc` checks all of them in one run, each as a module of its own. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NOT_INSTALLED } from '../support/doc-programs.ts'

export interface Example {
  /** The file that holds it. */
  file: string
  /** Where its docstring begins. */
  line: number
  /** Names that stand for what the example is about, from its file. */
  names: string[]
  text: string
}

const DOCSTRING = /\/\*\*[\s\S]*?\*\//g
const EXAMPLE = /@example\b ?([\s\S]*?)(?=\s@(?:example|param|returns|throws)\b|$)/g
const EXPORT = /^export (?:async )?(?:function\*?|const|class) (\w+)/gm
/** Nobody else can call it, so nobody copies its example. */
const OF_THE_FILE_ALONE = /^\s*(async )?function/
const EXPORTED_TYPE = /^export (?:interface|type) (\w+)/gm

/** An example may name what its file exports. */
export function examplesOf(file: string, text: string): Example[] {
  const exported = namesOf(text, EXPORT)
  const types = namesOf(text, EXPORTED_TYPE).map((name) => `type ${name}`)
  return [...text.matchAll(DOCSTRING)].flatMap((docstring) => {
    if (OF_THE_FILE_ALONE.test(text.slice(docstring.index + docstring[0].length))) return []
    const said = docstring[0].slice(3, -2).replaceAll(/^\s*\* ?/gm, '')
    return [...said.matchAll(EXAMPLE)].map(([, example = '']) => {
      const names = [...exported, ...types].filter((name) => {
        return new RegExp(`(?<![.\\w])${name.replace('type ', '')}\\b`).test(example)
      })
      const line = text.slice(0, docstring.index).split('\n').length
      return { file, line, names, text: example.trim() }
    })
  })
}

function namesOf(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].flatMap(([, name]) => name ?? [])
}

/** The names that an example imports itself. They win over the names from its file. */
function imports(text: string): string[] {
  return [...text.matchAll(/import (?:type )?\{([^}]*)\}/g)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.replace('type ', '').trim()),
  )
}

/**
 * @param given a file that declares what examples take for granted
 * @returns what `tsc` finds wrong, each with the place of its docstring
 */
export function problemsOf(root: string, given: string, examples: readonly Example[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'stello-examples-'))
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    copyFileSync(given, join(folder, 'given.d.ts'))
    writeFileSync(join(folder, 'exported.d.ts'), exportedBy(root))
    writeFileSync(join(folder, 'elsewhere.d.ts'), NOT_INSTALLED)
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(configOf(root)))
    examples.forEach(({ file, names, text }, index) => {
      const missing = names.filter((name) => !imports(text).includes(name.replace('type ', '')))
      const first = missing.length > 0 ? `import { ${missing.join(', ')} } from '${join(root, file)}'; ` : ''
      writeFileSync(join(folder, `example-${index}.ts`), `${first}export {}; ${text}\n`)
    })
    const tsc = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder, '--noEmit', '--pretty', 'false'], {
      encoding: 'utf8',
    })
    return tsc.stdout
      .split('\n')
      .filter((line) => /example-\d+\.ts.*: error /.test(line))
      .map((line) =>
        line.replace(/^.*example-(\d+)\.ts/, (_, index) => {
          const { file = '', line: begin } = examples[Number(index)] ?? {}
          return `${file}:${begin}`
        }),
      )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Declares everything that the package exports, since short examples leave the imports out. */
function exportedBy(root: string): string {
  const known = new Set<string>()
  const declared = Object.entries(entriesOf(root)).flatMap(([entry, file]) => {
    const text = readFileSync(join(root, file), 'utf8')
    const again = [...text.matchAll(/export \{([^}]*)\}/g)].flatMap(([, names = '']) => names.split(','))
    const names = [...again.map((name) => name.trim()), ...namesOf(text, EXPORT)]
    const anew = names.filter((name) => /^\w+$/.test(name) && !known.has(name))
    for (const name of anew) known.add(name)
    return anew.map((name) => `  const ${name}: typeof import('${entry}').${name}`)
  })
  return `export {}\ndeclare global {\n${declared.join('\n')}\n}\n`
}

function entriesOf(root: string): Record<string, string> {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as {
    compilerOptions: { paths: Record<string, [string]> }
  }
  return Object.fromEntries(Object.entries(compilerOptions.paths).map(([entry, [file]]) => [entry, file]))
}

/** Examples are shorter than code: their parameters may have no types, and what stands behind a `return` is left out. */
function configOf(root: string): object {
  return {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { noImplicitAny: false, allowUnusedLabels: true, allowUnreachableCode: true },
    include: ['*.ts'],
    exclude: [],
  }
}
