/** Names that no tool reads, writes or lists: files with secrets, and files that other programs run by themselves. */
import ignore from 'ignore'

/**
 * Patterns as in a `.gitignore` at the root. A pattern without a slash matches at any depth. Upper and lower case are
 * the same. A pattern that hides a folder hides everything in it.
 *
 * @example
 * filesystem({ sandboxManager: { root, protect: [...PROTECTED_NAMES, '*.sqlite', '!.npmrc'] } })
 */
export const PROTECTED_NAMES: readonly string[] = `
  .ssh id_* *.pem .gnupg
  .env* !.env.example !.env.sample !.env.template
  credentials !credentials/ .credentials credentials.json .credentials.json
  .npmrc .netrc _netrc .git-credentials .pgpass .pypirc
  .aws .kube .docker .stello
  .git .husky **/.github/workflows **/.vscode/tasks.json
`
  .trim()
  .split(/\s+/)

/** @param patterns default `PROTECTED_NAMES` @returns whether a name, from the root and with slashes, is protected; a folder's may end in one */
export function protectedBy(patterns: readonly string[] = PROTECTED_NAMES): (name: string) => boolean {
  const rules = ignore({ allowRelativePaths: true }).add(patterns)
  return (name) => name !== '' && name !== '.' && rules.ignores(name)
}

/** The problem with a list of patterns, as text that follows its name. */
export function protectProblem(patterns: unknown): string | undefined {
  const fine = Array.isArray(patterns) && patterns.every((each) => typeof each === 'string' && each.trim() !== '')
  return patterns === undefined || fine ? undefined : 'is no list of patterns'
}
