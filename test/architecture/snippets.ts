/**
 * The TypeScript that people copy: the blocks of the documentation, and the examples of docstrings. `tsc` checks all of
 * them in one run, each as a module of its own.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Snippet {
  /** The file that holds it, and the line where it begins. */
  place: string
  /** Names that stand for what the example is about, from the file that holds it. */
  own?: { file: string; names: string[] }
  text: string
}

const DOC_BLOCK = /^```ts\n([\s\S]*?)^```/gm
const DOCSTRING = /\/\*\*[\s\S]*?\*\//g
const EXAMPLE = /@example\b ?([\s\S]*?)(?=\s@(?:example|param|returns|throws)\b|$)/g
const EXPORT = /^export (?:async )?(?:function\*?|const|class) (\w+)/gm
/** What readers install or write themselves. */
const NOT_HERE = ['@ai-sdk/mistral', '*/encryption.ts']
/** Nobody else can call it, so nobody copies its example. */
const OF_THE_FILE_ALONE = /^\s*(async )?function/
const EXPORTED_TYPE = /^export (?:interface|type) (\w+)/gm

export function inDocument(file: string, text: string): Snippet[] {
  return [...text.matchAll(DOC_BLOCK)].map((found) => ({
    place: placeOf(file, text, found.index),
    text: found[1] ?? '',
  }))
}

/** An example may name what its file exports. */
export function inSource(file: string, text: string): Snippet[] {
  const exported = namesOf(text, EXPORT)
  const types = namesOf(text, EXPORTED_TYPE).map((name) => `type ${name}`)
  return [...text.matchAll(DOCSTRING)].flatMap((docstring) => {
    if (OF_THE_FILE_ALONE.test(text.slice(docstring.index + docstring[0].length))) return []
    const said = docstring[0].slice(3, -2).replaceAll(/^\s*\* ?/gm, '')
    return [...said.matchAll(EXAMPLE)].map(([, example = '']) => {
      const names = [...exported, ...types].filter((name) => {
        return new RegExp(`(?<![.\\w])${name.replace('type ', '')}\\b`).test(example)
      })
      return { place: placeOf(file, text, docstring.index), own: { file, names }, text: example.trim() }
    })
  })
}

function namesOf(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].flatMap(([, name]) => name ?? [])
}

function placeOf(file: string, text: string, index: number): string {
  return `${file}:${text.slice(0, index).split('\n').length}`
}

/** Of `import { a, type B } from 'c'` and the like: an import of the example wins over the name from its file. */
function imports(text: string): string[] {
  return [...text.matchAll(/import (?:type )?\{([^}]*)\}/g)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.replace('type ', '').trim()),
  )
}

/**
 * @param given a file that declares what examples take for granted
 * @returns what `tsc` finds wrong, each with the place of its snippet
 */
export function problemsOf(root: string, given: string, snippets: readonly Snippet[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'stello-snippets-'))
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    copyFileSync(given, join(folder, 'given.d.ts'))
    writeFileSync(join(folder, 'exported.d.ts'), exportedBy(root))
    writeFileSync(join(folder, 'packages.d.ts'), NOT_HERE.map((name) => `declare module '${name}'\n`).join(''))
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(configOf(root)))
    snippets.forEach(({ own, text }, index) => {
      const names = own?.names.filter((name) => !imports(text).includes(name.replace('type ', ''))) ?? []
      const first = names.length > 0 ? `import { ${names.join(', ')} } from '${join(root, own?.file ?? '')}'; ` : ''
      writeFileSync(join(folder, `snippet-${index}.ts`), `${first}export {}; ${text}\n`)
    })
    const tsc = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder, '--noEmit', '--pretty', 'false'], {
      encoding: 'utf8',
    })
    return tsc.stdout
      .split('\n')
      .filter((line) => /snippet-\d+\.ts.*: error /.test(line))
      .map((line) => line.replace(/^.*snippet-(\d+)\.ts/, (_, index) => snippets[Number(index)]?.place ?? ''))
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

/** Examples are shorter than code: their parameters may have no types, and the lines behind a `return` are left out. */
function configOf(root: string): object {
  const paths = Object.fromEntries(Object.entries(entriesOf(root)).map(([entry, file]) => [entry, [join(root, file)]]))
  return {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      paths,
      noImplicitAny: false,
      allowUnusedLabels: true,
      allowUnreachableCode: true,
      typeRoots: [join(root, 'node_modules/@types')],
      types: ['node'],
    },
    include: ['*.ts'],
    exclude: [],
  }
}

export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
}
