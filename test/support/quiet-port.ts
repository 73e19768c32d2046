/**
 * A port outside the range that the system gives to clients, so that nobody takes it by chance while its server is
 * dead. Higher ports do not fit a production Temporal, which keeps ports as signed 16 bit numbers.
 */
import { randomInt } from 'node:crypto'
import { choosePort } from '../../src/dev/ports.ts'

export async function quietPort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 2 ** 15)
    if (await choosePort('a test', port, undefined).catch(() => undefined)) return port
  }
}
