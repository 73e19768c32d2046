/**
 * The folders of the pack's own files. They lie beside the working folder, so that no command in a sandbox can change it.
 * `<parent>/.stello/<name>/` has `tmp`, `output` (whole outputs), `shells` (background shells) and `owners` (of those shells).
 */
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

export interface ShellState {
  tmp: string
  output: string
  shells: string
  /** A file for each open session that wants the shells to go on. */
  owners: string
}

/** @throws Error when there is no place beside the root */
export async function openShellState(root: string): Promise<ShellState> {
  if (dirname(root) === root) throw new Error('shell: sandboxManager.root must not be the root of the file system')
  const state = shellStateOf(root)
  for (const folder of Object.values(state)) await mkdir(folder, { recursive: true, mode: 0o700 })
  return state
}

/** The folders, which need not be there. */
export function shellStateOf(root: string): ShellState {
  const base = join(dirname(root), '.stello', basename(root))
  const at = (name: keyof ShellState): string => join(base, name)
  return { tmp: at('tmp'), output: at('output'), shells: at('shells'), owners: at('owners') }
}

/** Removes all but the newest entries of a folder that `mayGo`. */
export async function keepNewest(
  folder: string,
  count: number,
  mayGo: (path: string) => Promise<boolean>,
): Promise<void> {
  const dated = await Promise.all(
    (await readdir(folder)).map(async (name) => {
      const path = join(folder, name)
      return { path, changed: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0 }
    }),
  )
  for (const { path } of dated.toSorted((a, b) => b.changed - a.changed).slice(count)) {
    if (await mayGo(path)) await rm(path, { recursive: true, force: true })
  }
}
