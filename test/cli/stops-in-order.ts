/** A launcher as `stello dev` and the demo are: it loads what cleans up at exit, and needs its time to stop what it started. */
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
