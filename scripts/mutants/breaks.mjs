/** All breaks. A list for each part of the code stands in a file of its own. */
import { FILES } from './files.mjs'
import { LEDGER } from './ledger.mjs'
import { OUTSIDE } from './outside.mjs'
import { PEOPLE } from './people.mjs'
import { PERMISSIONS } from './permissions.mjs'
import { PROVIDERS } from './providers.mjs'
import { SESSION } from './session.mjs'
import { WORKERS } from './workers.mjs'

/**
 * A small break of a rule that must always hold, and the test that must notice it.
 *
 * - `rule`: what no longer holds with the break. It is the name of the break.
 * - `from`: a text that stands in `file` exactly once. `to` takes its place.
 * - `project`, `test`: the project of Vitest and the test file.
 * - `name`: a part of the test's own name, as it stands in the test file. Unset: any test of the file may notice.
 *
 * @type {{ rule: string, file: string, from: string, to: string, project: string, test: string, name?: string }[]}
 */
export const BREAKS = [...SESSION, ...LEDGER, ...WORKERS, ...PERMISSIONS, ...PEOPLE, ...PROVIDERS, ...FILES, ...OUTSIDE]
