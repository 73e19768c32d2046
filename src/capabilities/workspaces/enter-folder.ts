/**
 * One working folder on this host: `<base>/<id>/<generation>/files`. Each generation has a folder of its own, so a
 * worker that does not know yet that the folder has moved cannot write into the new one (fencing). A new folder is filled
 * elsewhere and then renamed: nobody can enter it half full. Nothing here deletes a folder that was used.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { WorkspaceOf } from '../../agent/workspace-keeper.ts'
import { StelloError } from '../../core/errors.ts'
import { isCode } from './file-error.ts'

const FILES = 'files'

/** Calls of one round come in at the same time: one of them makes the folder. */
const making = new Map<string, Promise<void>>()

/**
 * @param fill fills the new folder
 * @returns the path of its files
 * @throws StelloError TOOL_WORKSPACE_LOST when this host has a folder of a later generation; every error of `fill`
 */
export async function enterFolder(
  base: string,
  { id, generation }: WorkspaceOf,
  fill: (root: string) => Promise<void>,
): Promise<string> {
  const all = join(base, id)
  const found = await generationsIn(all)
  const latest = Math.max(generation, ...found)
  if (latest > generation) throw refused(generation, latest)
  const folder = join(all, String(generation))
  if (!found.includes(generation)) {
    const made = making.get(folder) ?? make(folder, fill).finally(() => making.delete(folder))
    making.set(folder, made)
    await made
  }
  return join(folder, FILES)
}

/** @returns undefined when this host has no such folder */
export async function findFolder(base: string, { id, generation }: WorkspaceOf): Promise<string | undefined> {
  const all = join(base, id)
  return (await generationsIn(all)).includes(generation) ? join(all, String(generation), FILES) : undefined
}

/** If another process is faster, its folder counts: a folder with something in it cannot be replaced by a rename. */
async function make(folder: string, fill: (root: string) => Promise<void>): Promise<void> {
  const draft = `${folder}.new-${randomBytes(6).toString('hex')}`
  const root = join(draft, FILES)
  await mkdir(root, { recursive: true })
  try {
    await fill(root)
    await rename(draft, folder).catch((error: unknown) => {
      if (!isCode(error, 'ENOTEMPTY', 'EEXIST')) throw error
    })
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

async function generationsIn(folder: string): Promise<number[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (isCode(error, 'ENOENT')) return []
    throw error
  })
  return names.filter((name) => /^\d+$/.test(name)).map(Number)
}

function refused(generation: number, latest: number): StelloError {
  const text = `this call belongs to generation ${generation} of the working folder, and this host has generation ${latest}`
  return new StelloError('TOOL_WORKSPACE_LOST', text)
}
