/**
 * Readers of whole folders. A rule names files, but such a command names only their folder. So the names below the folder
 * are looked at before the command runs. Reads names only, and never follows links.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { programName } from './inner-commands.ts'
import type { Word } from './word.ts'

/** Whether a file may be read, as `ToolContext.mayRead` says it. */
export type MayRead = (path: string) => boolean

/** How many files are looked at. If there are more, a person decides. */
const MOST = 20_000
/** They read names and facts of files, not their contents. */
const SHALLOW = new Set(
  'ls dir vdir cd pushd test [ stat du df tree file realpath readlink basename dirname find which mkdir rmdir touch chmod'.split(
    ' ',
  ),
)
/** Commands of git that show contents of files. */
const SHOWING = new Set('diff show grep cat-file archive format-patch whatchanged blame stash'.split(' '))

/** Options of `git log` that show changes. */
const PATCH = /^(?:-[pucGSLU]|--(?:patch|cc|unified|word-diff|color-words|binary|full-diff|remerge))/
/** Long options of grep that make it read folders. A program takes any beginning of such a name. */
const RECURSIVE = ['recursive', 'dereference-recursive', 'directories']

function isRecursive(text: string): boolean {
  const [, name] = /^--([a-z-]{2,})(?:=|$)/.exec(text) ?? []
  return name !== undefined && RECURSIVE.some((option) => option.startsWith(name))
}

/** Whether the command may show contents of files below the folders that it reads. */
export function readsBelow(words: readonly Word[]): boolean {
  const name = programName(words[0]?.text ?? '')
  const texts = words.slice(1).map(({ text }) => text)
  if (name === 'git') {
    const [action = '', ...rest] = texts.filter((text) => text !== '--no-pager')
    // Options before the action may have values, so nobody knows where the action stands.
    return action.startsWith('-') || SHOWING.has(action) || (action === 'log' && rest.some((text) => PATCH.test(text)))
  }
  // Without it, grep reads no folder, and its input where no file is named.
  if (/^[ef]?grep$/.test(name)) return texts.some((text) => /^-[A-Za-z0-9]*[rRd]/.test(text) || isRecursive(text))
  return !SHALLOW.has(name)
}

/**
 * The first file below a folder that must not be read, or why nobody knows whether there is one.
 *
 * @param folder absolute @returns undefined when all may be read, or when it is no folder
 */
export async function forbiddenBelow(folder: string, mayRead: MayRead): Promise<string | undefined> {
  const waiting = [folder]
  let seen = 0
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const entry of await readdir(at, { withFileTypes: true }).catch(() => [])) {
      const path = join(at, entry.name)
      if (!mayRead(path)) return path
      if (++seen > MOST) return `more than ${MOST} files`
      if (entry.isDirectory()) waiting.push(path)
    }
  }
  return undefined
}
