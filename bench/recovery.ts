/** How long a turn stands still when its worker is killed and started again, and how long a worker needs to start. */
import { newName, type World } from './world.ts'
import { median, type Values } from './figures.ts'
import { build, startWorkerProcess } from './worker-process.ts'

const REPETITIONS = 5
/**
 * The worker is killed in the middle of this model call. The repeated call takes as long. This time is subtracted,
 * because it is not part of the recovery.
 */
const CALL_MS = 300

export async function measureRecovery(world: World): Promise<Values<'recovery'>> {
  build(world.say)
  const agent = newName('recovery')
  const [boots, firsts, recoveries] = [[], [], []] as [number[], number[], number[]]
  let worker = await startWorkerProcess(world, agent)
  for (let n = 0; n < REPETITIONS; n++) {
    world.say(`recovery: ${n} of ${REPETITIONS}`)
    const session = await world.stello.createSession({ agent, label: 'recovery' })
    const turn = await session.send(`wait ${CALL_MS}`)
    for await (const { type } of session.watch({ live: false })) if (type === 'turn.started') break
    await worker.kill()
    const waiting = await world.stello.createSession({ agent, label: 'waiting' })
    const first = await waiting.send('go')

    const restarted = performance.now()
    const [next, firstMs, recoveredMs] = await Promise.all([
      startWorkerProcess(world, agent),
      first.result().then(() => performance.now() - restarted),
      turn.result().then(() => performance.now() - restarted),
    ])
    worker = next
    boots.push(next.bootMs)
    firsts.push(firstMs)
    recoveries.push(recoveredMs - CALL_MS - next.bootMs)
  }
  await worker.kill()
  return {
    worker_boot_s: median(boots) / 1000,
    worker_start_s: median(firsts) / 1000,
    recovery_s: Math.max(0, median(recoveries)) / 1000,
  }
}
