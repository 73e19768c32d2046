/** Folders for the servers of demos. `after-file.ts` deletes them. */
import { join } from 'node:path'
import { removeDevHome } from '../../src/dev/dev-servers.ts'
import { newFolder } from '../cli/command.ts'

const homes: string[] = []

export async function removeHomes(): Promise<void> {
  for (const home of homes.splice(0)) await removeDevHome(home)
}

export async function newHome(): Promise<string> {
  const home = join(await newFolder(), '.stello')
  homes.push(home)
  return home
}
