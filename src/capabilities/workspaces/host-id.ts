/** The id of a host, kept in the base folder, so that it is the same after every restart of its workers. */
import { randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sessionIdProblem } from '../../core/path-part.ts'
import { isCode } from './file-error.ts'

const FILE = '.stello-host'

/** @throws Error when the file holds no id */
export async function hostIdOf(base: string): Promise<string> {
  await mkdir(base, { recursive: true })
  const path = join(base, FILE)
  // Linked when it is complete: of two workers that start at once, both read the id of the first.
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  const known = await read(path)
  if (known !== undefined) return known
  try {
    const file = await open(draft, 'wx')
    await file.writeFile(`host-${randomBytes(6).toString('hex')}\n`).then(() => file.sync())
    await file.close()
    await link(draft, path).catch((error: unknown) => {
      if (!isCode(error, 'EEXIST')) throw error
    })
  } finally {
    await rm(draft, { force: true })
  }
  return (await read(path)) ?? hostIdOf(base)
}

async function read(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  })
  if (text === undefined) return undefined
  const id = text.trim()
  const problem = sessionIdProblem(id)
  if (problem !== undefined) throw new Error(`${path} holds no id of a host: ${problem}`)
  return id
}
