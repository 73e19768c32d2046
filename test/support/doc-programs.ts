/**
 * The TypeScript blocks of a document, as the files that a reader makes of them. So the compiler checks every block.
 */

/** Declares a provider of the AI SDK that only its users have. */
export const NOT_INSTALLED = `declare module '@ai-sdk/mistral' {
  export function mistral(model: string): import('@ai-sdk/provider').LanguageModelV3
}`

export interface Program {
  /** Path in a folder of the document. */
  file: string
  text: string
}

const BLOCK = /^```(?:ts|tsx)\b ?([^\n]*)\n([^]*?)^```$/gm
const FILE_COMMENT = /^\/\/ ([\w./-]+\.ts)$/m

/**
 * A block with a name is a file. The name stands behind the fence, or in a comment in the first line. A name that comes
 * again begins a new folder of files. A block that begins with an import is a program of its own. The blocks behind it
 * without an import continue this program.
 */
export function programsOf(document: string): Program[] {
  const programs: Program[] = []
  let folder = 1
  for (const [, fence = '', text = ''] of document.matchAll(BLOCK)) {
    const [first = ''] = text.split('\n')
    const name = fence || FILE_COMMENT.exec(first)?.[1]
    if (name) {
      if (programs.some(({ file }) => file === `${folder}/${name}`)) folder += 1
      programs.push({ file: `${folder}/${name}`, text })
      continue
    }
    const before = programs.at(-1)
    if (before && !first.startsWith('import ')) before.text += `\n${text}`
    else programs.push({ file: `program-${programs.length + 1}.ts`, text })
  }
  return programs
}
