/** Folders for the servers of demos. Each is deleted after the file that has asked for it. */
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { removeDevHome } from '../../src/dev/dev-servers.ts'
import { newFolder } from '../cli/command.ts'

const homes: string[] = []

afterAll(async () => {
  for (const home of homes.splice(0)) await removeDevHome(home)
})

export async function newHome(): Promise<string> {
  const home = join(await newFolder(), '.stello')
  homes.push(home)
  return home
}
