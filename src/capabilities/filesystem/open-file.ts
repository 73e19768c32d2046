/**
 * Opens the file that `locate` found. Must never wait for a pipe, read from a device, or follow a link that was put
 * there since, at any depth.
 */
import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import type { Place } from './locate.ts'
import { atFile } from './open-folder.ts'
import { Refusal } from './refusal.ts'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

/** @throws Refusal when it is no regular file; ENOENT */
export async function withFile<Result>(
  place: Place,
  work: (file: FileHandle, size: number) => Promise<Result>,
): Promise<Result> {
  const file = await atFile(place, (path) => open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK))
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw new Refusal(`${place.name} is no regular file.`)
    return await work(file, stats.size)
  } finally {
    await file.close()
  }
}
