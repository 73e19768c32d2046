/** Twice as many sessions at once on the same two cores: their turns take longer, but as many end in a second. */
import { emptyAgent } from './agent.ts'
import type { Values } from './figures.ts'
import { ratesOf } from './turns.ts'
import { newName, type World } from './world.ts'

const FEW = 100
const MANY = 200
/** More would end the run of a workflow, and its decisions could not be counted. */
const REPETITIONS = 2

export async function measureCrowd(world: World): Promise<Values<'crowd'>> {
  const agent = newName('crowd')
  const worker = await world.work(emptyAgent(agent))
  try {
    const sessions = await Promise.all(
      Array.from({ length: MANY }, () => world.stello.createSession({ agent, label: 'bench' })),
    )
    const turns = sessions.map((session) => async () => (await session.send('go')).result())
    const [few, many] = await ratesOf(turns.slice(0, FEW), turns, {
      repetitions: REPETITIONS,
      say: (which) => world.say(`${FEW} and ${MANY} sessions at once: ${which}`),
    })
    return {
      turns_per_s_200: many,
      throughput_200_over_100: many / few,
      decisions_timed_out_200: await timedOut(
        world,
        sessions.map(({ id }) => id),
      ),
    }
  } finally {
    await worker.stop()
  }
}

/** Decisions that Temporal took from their worker because it did not begin them in time. Each was a replay. */
async function timedOut(world: World, ids: readonly string[]): Promise<number> {
  let count = 0
  for (const id of ids) {
    const { events } = await world.temporal.workflow.getHandle(id).fetchHistory()
    count += (events ?? []).filter((event) => event.workflowTaskTimedOutEventAttributes).length
  }
  return count
}
