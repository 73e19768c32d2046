/**
 * A turn compared with the floor: turns one after another, and turns of many sessions at once. Both are measured
 * alternately, so that both are measured in the same state of the machine.
 */
import { emptyAgent } from './agent.ts'
import { median, type Values } from './figures.ts'
import { startFloor } from './floor/floor.ts'
import { newName, type World } from './world.ts'

const WARM_UP = 20
const TURNS = 100
const SESSIONS = 100
const TURNS_EACH = 3
const REPETITIONS = 5

type Turn = () => Promise<unknown>

export async function measureTurns(world: World): Promise<Values<'turn'>> {
  const name = newName('bench')
  const floor = await startFloor(world)
  const worker = await world.work(emptyAgent(name))
  const ourTurn = async (): Promise<Turn> => {
    const session = await world.stello.createSession({ agent: name, label: 'bench' })
    return async () => (await session.send('go')).result()
  }
  const floorTurn = async (): Promise<Turn> => (await floor.open()).turn
  try {
    const single = await oneByOne(await ourTurn(), await floorTurn(), world.say)
    const many = await atOnce(ourTurn, floorTurn, world.say)
    return {
      turn_ms: single.ours,
      turn_floor_ms: single.floor,
      turn_over_floor: single.ours / single.floor,
      turns_per_s: many.ours,
      turns_floor_per_s: many.floor,
      throughput_over_floor: many.ours / many.floor,
    }
  } finally {
    await Promise.all([worker.stop(), floor.stop()])
  }
}

async function oneByOne(ours: Turn, floor: Turn, say: World['say']): Promise<{ ours: number; floor: number }> {
  const times = { ours: [] as number[], floor: [] as number[] }
  for (let n = 0; n < WARM_UP + TURNS; n++) {
    if (n % 40 === 0) say(`turns one after another: ${n} of ${WARM_UP + TURNS}`)
    const [our, bare] = [await timed(ours), await timed(floor)]
    if (n < WARM_UP) continue
    times.ours.push(our)
    times.floor.push(bare)
  }
  return { ours: median(times.ours), floor: median(times.floor) }
}

async function atOnce(
  openOurs: () => Promise<Turn>,
  openFloor: () => Promise<Turn>,
  say: World['say'],
): Promise<{ ours: number; floor: number }> {
  const open = (one: () => Promise<Turn>): Promise<Turn[]> => Promise.all(Array.from({ length: SESSIONS }, one))
  const [ours, floor] = [await open(openOurs), await open(openFloor)]
  const [our, bare] = await ratesOf(ours, floor, {
    repetitions: REPETITIONS,
    say: (which) => say(`${SESSIONS} sessions at once: ${which}`),
  })
  return { ours: our, floor: bare }
}

/** Medians of the turns per second of both, measured alternately. The first time is the warm-up. */
export async function ratesOf(
  some: readonly Turn[],
  others: readonly Turn[],
  { repetitions, say }: { repetitions: number; say(which: string): void },
): Promise<[number, number]> {
  const rates: [number[], number[]] = [[], []]
  for (let n = 0; n <= repetitions; n++) {
    say(`${n} of ${repetitions + 1}`)
    const both = [await rate(some), await rate(others)] as const
    if (n === 0) continue
    rates[0].push(both[0])
    rates[1].push(both[1])
  }
  return [median(rates[0]), median(rates[1])]
}

/** Turns per second, of sessions that take three turns each at the same time. */
async function rate(turns: readonly Turn[]): Promise<number> {
  const each = async (turn: Turn): Promise<void> => {
    for (let n = 0; n < TURNS_EACH; n++) await turn()
  }
  const ms = await timed(() => Promise.all(turns.map(each)))
  return (turns.length * TURNS_EACH * 1000) / ms
}

/** Milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}
