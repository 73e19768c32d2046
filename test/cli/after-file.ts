/**
 * Ends what the tests of a file have started. Vitest runs this for each file. A hook in a module that is imported would
 * run after one file only, since files share their modules.
 */
import { afterAll } from 'vitest'
import { closeTerminals } from '../support/terminal.ts'
import { endCommands } from './command.ts'

afterAll(async () => {
  await closeTerminals()
  await endCommands()
})
