/**
 * A launcher like `stello dev` and the demo. It loads a library that cleans up at exit, and it needs time to stop what
 * it has started.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { onExit } from 'signal-exit'
import { interrupted } from '../../src/cli/interrupted.ts'

const stop = interrupted()
onExit(() => undefined)
process.stdout.write('ready\n')
await stop
process.stdout.write('stopping\n')
await delay(Number(process.argv[2]))
process.stdout.write('stopped in order\n')
process.exit()
