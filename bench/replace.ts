/** How long sessions wait for an answer when their worker is replaced by one that has none of them in memory. */
import type { SessionHandle } from '../src/client/index.ts'
import { resumeSignal } from '../src/protocol/temporal-messages.ts'
import type { Values } from './figures.ts'
import { build, startWorkerProcess, type WorkerProcess } from './worker-process.ts'
import { newName, type World } from './world.ts'

const SESSIONS = 60
/**
 * Each round makes about 18 events, so a session has 3,000. Some sessions have a few more rounds, so that their runs do
 * not all end at once.
 */
const ROUNDS = 160
const ROUNDS_MORE = 20
/** Temporal allows a run 10,000 signals. They change nothing here. A step that never ends keeps the run from ending. */
const SIGNALS = 9_900
const AT_ONCE = 10

export async function measureReplace(world: World): Promise<Values<'replace'>> {
  build(world.say)
  const agent = newName('replace')
  const first = await startWorkerProcess(world, agent)
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => world.stello.createSession({ agent })))
  world.say(`${SESSIONS} sessions live for 3,000 events`)
  const lives = sessions.map(async (session, n) => {
    await (await session.send(`rounds ${ROUNDS + (n % ROUNDS_MORE)}`)).result()
  })
  await Promise.all(lives)
  await first.kill()
  const asked = await Promise.all(sessions.map((session) => session.send('go')))
  const [second, last] = await replaced(world, agent, async () => {
    await Promise.all(asked.map((turn) => turn.result()))
  })

  const long = await world.stello.createSession({ agent })
  const turn = await long.send('wait 100000000')
  for await (const { type } of long.watch({ live: false })) if (type === 'turn.started') break
  await flood(world, long)
  await second.kill()
  await long.cancelTurn()
  const [third, longest] = await replaced(world, agent, async () => void (await turn.result()))
  await third.kill()
  return { replace_worker_s: last / 1000, longest_run_s: longest / 1000 }
}

/** Resolves with the new worker, and with the milliseconds from its start until the work of the old one was done. */
async function replaced(world: World, agent: string, end: () => Promise<void>): Promise<[WorkerProcess, number]> {
  world.say('a new worker')
  const begun = performance.now()
  const [worker, ms] = await Promise.all([
    startWorkerProcess(world, agent),
    end().then(() => performance.now() - begun),
  ])
  return [worker, Math.max(0, ms - worker.bootMs)]
}

/**
 * Makes the longest possible run, by almost as many signals as Temporal allows. Each signal is one event, and each
 * workflow task that takes signals adds three.
 */
async function flood(world: World, { id }: SessionHandle): Promise<void> {
  const workflow = world.temporal.workflow.getHandle(id)
  for (let sent = 0; sent < SIGNALS; sent += AT_ONCE) {
    if (sent % 1000 === 0) world.say(`a run of ${(await workflow.describe()).historyLength} events`)
    await Promise.all(Array.from({ length: AT_ONCE }, () => workflow.signal(resumeSignal)))
  }
}
