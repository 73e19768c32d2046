/** A worker that starts a shell in the background, prints its id, and stays alive until it is killed. */
import { setInterval } from 'node:timers'
import { shell } from '../../../../src/capabilities/index.ts'
import { testContext } from '../test-context.ts'

const { tools } = shell({ sandboxManager: { root: process.argv[2] ?? '' }, sandbox: 'off' })
const command = 'until [ -e go ]; do sleep 0.02; done; echo still here; sleep 600'
const [bash] = tools
const result = await bash?.execute(
  { command, run_in_background: true },
  testContext({ idempotencyKey: 'of the first worker' }),
)
console.log((result as { metadata: { shell_id: string } }).metadata.shell_id)
setInterval(() => undefined, 1000)
