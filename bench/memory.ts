/**
 * The memory of a worker process: with many sessions that wait for a message, and with many that wait for their model.
 */
import type { SessionHandle } from '../src/client/index.ts'
import type { Values } from './figures.ts'
import { build, startWorkerProcess } from './worker-process.ts'
import { newName, type World } from './world.ts'

const [IDLE, RUNNING] = [1000, 100] as const
/** Long enough that all sessions are in their model call at once. */
const CALL_MS = 20_000

export async function measureMemory(world: World): Promise<Values<'memory'>> {
  build(world.say)
  return {
    rss_mb_empty: await rssWith(world, 0, async () => undefined),
    [`rss_mb_${IDLE}_idle` as const]: await rssWith(world, IDLE, ask),
    [`rss_mb_${RUNNING}_running` as const]: await rssWith(world, RUNNING, begin),
  }
}

async function rssWith(
  world: World,
  count: number,
  use: (session: SessionHandle) => Promise<unknown>,
): Promise<number> {
  const agent = newName('memory')
  const worker = await startWorkerProcess(world, agent)
  try {
    for (let n = 0; n < count; n += 50) {
      world.say(`memory: ${n} of ${count} sessions`)
      await Promise.all(
        Array.from({ length: Math.min(50, count - n) }, async () => use(await world.stello.createSession({ agent }))),
      )
    }
    return worker.rss()
  } finally {
    await worker.kill()
  }
}

async function ask(session: SessionHandle): Promise<void> {
  await (await session.send('go')).result()
}

async function begin(session: SessionHandle): Promise<void> {
  await session.send(`wait ${CALL_MS}`)
  for await (const { type } of session.watch({ live: false })) if (type === 'turn.started') return
}
