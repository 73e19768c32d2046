/**
 * Nothing is lost and nothing is done twice, whoever is killed at whatever time. A tree of seven sessions is talked to
 * all the time, while workers (mostly), Temporal and PostgreSQL get SIGKILL at random moments. Afterwards everything is
 * as in the undisturbed run.
 *
 * `STELLO_CRASH=all` kills a hundred times; `STELLO_CRASH_SEED` chooses other moments, and another conversation.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { TAKERS } from '../../src/store/ledger/claim.ts'
import { idempotencyKey } from '../../src/protocol/keys.ts'
import { builtModule } from '../support/built.ts'
import { spawnWorker } from '../support/crashing.ts'
import { startOwnServers, type OwnServers } from '../support/own-servers.ts'
import { useStello } from '../support/session-fixture.ts'
import { until } from '../support/until.ts'
import { growTree, type Grown } from './tree/grow.ts'
import { killAtRandom, type Span, type Target } from './tree/killer.ts'
import { gapsIn, pictureOf, type Picture } from './tree/picture.ts'
import { TASKS, makePlan, type Plan } from './tree/plan.ts'
import { createRandom } from './tree/random.ts'
import { keepWorkers } from './tree/workers.ts'
import { startWorld, type World } from './tree/world.ts'

const ALL = process.env['STELLO_CRASH'] === 'all'
const SEED = Number(process.env['STELLO_CRASH_SEED'] ?? 20_261_121)
const { kills, messagesEach } = ALL ? { kills: 100, messagesEach: 12 } : { kills: 10, messagesEach: 3 }
const LIMIT_MS = 20 * 60_000
/**
 * The number of messages that may be sent before the next kill. Without this bound, the talk could be over before the
 * kills are.
 */
const AHEAD = 8

let servers: OwnServers
const stello = useStello(async () => (servers = await startOwnServers()))

interface Setting {
  plan: Plan
  /** The file for the output of the workers. */
  folder: string
  /** The path of the worker's module. */
  module: string
}

interface Run {
  grown: Grown
  picture: Picture
  world: World
  marks: number
  killed?: Record<Target, number>
  postgresAway: Span[]
  quitters: readonly number[]
  seconds: number
}

/** @param before the undisturbed run; unset = this is the undisturbed run */
async function runTree({ plan, folder, module }: Setting, before?: Run): Promise<Run> {
  const agent = `tree-${randomBytes(4).toString('hex')}`
  const effectsFile = join(folder, `${agent}.effects`)
  const stderr = openSync(join(folder, `${agent}.log`), 'a')
  const world = await startWorld(effectsFile)
  const settings = { agent, ...stello.servers, modelUrl: world.modelUrl, toolUrl: world.toolUrl, effectsFile }
  const workers = keepWorkers(2, () => spawnWorker(settings, { module, stderr }))
  const calmly = oneAfterAnother()
  const over = new AbortController()
  const begun = performance.now()
  const seconds = (): number => Math.round((performance.now() - begun) / 1000)
  const all = before?.grown.seen.length ?? 0
  const postgresAway: Span[] = []
  const messages = Object.values(plan).flat().length
  let events = 0
  let said = 0
  let sent = 0
  let shot = 0
  const keepUp = async (): Promise<void> => {
    const due = Math.min(kills, (kills * (++sent - AHEAD)) / (0.8 * messages - AHEAD))
    await until('the kills to keep up with the talk', async () => {
      if (shot >= due) return true
      // A session that nobody talks to gives no marks, and a kill needs some marks first.
      world.mark()
      return false
    })
  }
  try {
    const growing = growTree({
      client: stello.client,
      db: stello.db,
      agent,
      plan,
      calmly,
      onEvent() {
        events++
        world.mark()
      },
      pace: before ? keepUp : async () => undefined,
    }).finally(() => over.abort())
    const killing =
      before &&
      killAtRandom({
        random: createRandom(SEED),
        world,
        servers,
        workers,
        kills,
        // The last tenths of the work are left alone, so that no kill comes too late.
        left: () => (0.6 * before.marks * Math.max(0, 0.8 * all - events)) / all,
        spared: () => until('no step is left that has killed two takers', noneDiedTwice),
        calmly,
        onShot(killed, targets) {
          shot = killed
          writeSync(stderr, `${new Date().toISOString()} killed ${targets.join(' and ')}: ${killed}\n`)
          if (Math.floor(killed / 10) > said) {
            said = Math.floor(killed / 10)
            say(`${killed} of ${kills} kills, ${events} of ${all} events, ${seconds()} s`)
          }
        },
        onBack(back, away) {
          if (back.includes('postgres')) postgresAway.push(away)
        },
        signal: over.signal,
      })
    const [grown, killed] = await Promise.all([growing, killing])
    return {
      grown,
      // Asked here, while workers live, because they answer how much the sessions have counted.
      picture: await pictureOf(stello.db, grown),
      world,
      marks: world.marks,
      postgresAway,
      quitters: workers.quitters,
      seconds: seconds(),
      ...(killed && { killed }),
    }
  } finally {
    over.abort()
    await workers.close()
    await world.close()
  }
}

it(
  `a tree of seven sessions loses and repeats nothing over ${kills} kills at random moments`,
  async () => {
    say(`STELLO_CRASH_SEED=${SEED}; again: ${again()}`)
    const folder = mkdtempSync(join(tmpdir(), 'stello-random-'))
    say(`what the workers say is in ${folder}`)
    const setting: Setting = {
      plan: makePlan(createRandom(SEED), messagesEach),
      folder,
      module: builtModule('test/crash/tree/agent-process.ts'),
    }
    const calm = await runTree(setting)
    expect(calm.picture.unknown).toEqual([])
    // Both runs could be wrong in the same way. The plan says how often each message must be answered.
    const planned = (what: 'id' | 'text'): Record<string, string[]> =>
      Object.fromEntries(Object.entries(setting.plan).map(([label, said]) => [label, said.map((one) => one[what])]))
    expect(calm.picture.answered).toEqual({ ...planned('id'), T1: ['task'], T2: ['task'] })
    expect(calm.picture.heard).toEqual({ ...planned('text'), T1: [TASKS.T1], T2: [TASKS.T2] })
    say(`undisturbed: ${calm.grown.seen.length} events, ${calm.world.requests.length} model calls, ${calm.seconds} s`)

    const run = await runTree(setting, calm)
    const { picture } = run
    const { requests } = run.world
    const steps = await stepsOf(run.grown)
    const repeated = requests.length - new Set(requests.map(({ key }) => key)).size
    say(
      `killed ${JSON.stringify(run.killed)}; ${requests.length} model calls, ${repeated} repeated in flight; ` +
        `${picture.unknown.length} outcomes unknown; ${run.seconds} s`,
    )
    const { worker = 0, temporal = 0, postgres = 0 } = run.killed ?? {}
    expect(worker + temporal + postgres).toBeGreaterThanOrEqual(kills)
    expect(picture.sessions).toEqual(calm.picture.sessions)
    expect(await gapsIn(stello.db, run.grown)).toEqual([])
    expect(run.quitters).toEqual([])

    // A finished model call is never repeated. A repeated call was begun before its answer was settled.
    const settledAt = new Map(steps.map((step) => [step.idempotencyKey, step.settledAt]))
    expect(requests.filter(({ key }) => !settledAt.has(key))).toEqual([])
    expect(requests.filter(({ key, at }) => at > (settledAt.get(key) ?? 0))).toEqual([])
    // A living process asks once, unless PostgreSQL has forgotten that the call began.
    expect(requests.filter((request, n) => askedBefore(request, requests.slice(0, n), run.postgresAway))).toEqual([])

    const effects = run.world.effects()
    expect(effects).toEqual([...new Set(effects)])
    const pays = steps.filter(({ name }) => name === 'pay')
    const unknown = new Set(picture.unknown)
    const told = pays.filter(({ id }) => !unknown.has(id)).map((step) => step.idempotencyKey)
    expect(told.filter((key) => !effects.includes(key))).toEqual([])
    expect(effects.filter((key) => !pays.some((step) => step.idempotencyKey === key))).toEqual([])
    // The output of the workers is kept only if something was wrong.
    rmSync(folder, { recursive: true })
  },
  LIMIT_MS,
)

interface Step {
  id: string
  name: string
  idempotencyKey: string
  settledAt: number
}

async function stepsOf({ root }: Grown): Promise<Step[]> {
  const { rows } = await stello.db.pool.query<
    Record<'session_id' | 'step_key' | 'name' | 'input_hash', string> & { settled_at: Date }
  >(
    `select session_id, step_key, name, input_hash, settled_at from steps
     where session_id in (select id from sessions where root_id = $1)`,
    [root.id],
  )
  return rows.map((row) => ({
    id: `${row.session_id}/${row.step_key}`,
    name: row.name,
    idempotencyKey: idempotencyKey({ sessionId: row.session_id, key: row.step_key, inputHash: row.input_hash }),
    settledAt: row.settled_at?.getTime() ?? Infinity,
  }))
}

/** PostgreSQL may have been killed while the pool had connections. */
async function noneDiedTwice(): Promise<boolean> {
  const left = `select from steps where outcome is null and deaths >= ${TAKERS - 1}`
  return stello.db.pool.query(left).then(
    ({ rowCount }) => rowCount === 0,
    () => false,
  )
}

/** The mark of a call that began just before PostgreSQL died may be lost. Its request may arrive just after that. */
function askedBefore(
  { key, pid, at }: World['requests'][number],
  earlier: World['requests'],
  postgresAway: readonly Span[],
): boolean {
  const before = earlier.findLast((request) => request.key === key && request.pid === pid)
  return before !== undefined && !postgresAway.some(({ from, until }) => until >= before.at && from <= at)
}

function oneAfterAnother(): (work: () => Promise<void>) => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  return (work) => {
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }
}

function again(): string {
  const all = ALL ? 'STELLO_CRASH=all ' : ''
  return `${all}STELLO_CRASH_SEED=${SEED} npx vitest run --project crash test/crash/random-kills.test.ts`
}

function say(line: string): void {
  process.stderr.write(`random kills: ${line}\n`)
}
