/** Deletes the folders of the demos of a file when their commands have ended. See `test/cli/after-file.ts`. */
import { afterAll } from 'vitest'
import { closeTerminals } from '../support/terminal.ts'
import { endCommands } from '../cli/command.ts'
import { removeHomes } from './homes.ts'

afterAll(async () => {
  await closeTerminals()
  await removeHomes()
  await endCommands()
})
