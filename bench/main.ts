/** `npm run bench`: measures, and compares each figure with its aim. Progress goes to stderr, figures go to stdout. */
import { Command, InvalidArgumentError } from 'commander'
import { figuresOf, isMet, toJson, toLine, type Figure, type Values } from './figures.ts'
import { measureCompaction } from './compaction.ts'
import { measureCrowd } from './crowd.ts'
import { measureForks } from './fork.ts'
import { measureGrowth } from './growth.ts'
import { measureHttpTurns } from './http-turns.ts'
import { measureMemory } from './memory.ts'
import { measurePipeline } from './pipeline.ts'
import { measureRecovery } from './recovery.ts'
import { measureReplace } from './replace.ts'
import { ROWS, type Measurement } from './rows.ts'
import { measureTurns } from './turns.ts'
import { openWorld, type World } from './world.ts'

const MEASUREMENTS: { [Name in Measurement]: (world: World) => Promise<Values<Name>> } = {
  turn: measureTurns,
  crowd: measureCrowd,
  http: measureHttpTurns,
  growth: measureGrowth,
  compaction: measureCompaction,
  fork: measureForks,
  recovery: measureRecovery,
  replace: measureReplace,
  memory: measureMemory,
  pipeline: measurePipeline,
}

const names = Object.keys(ROWS) as Measurement[]

const program = new Command('bench')
  .description('Measures stello-temporal on servers of its own. All ratios are from this one run on this machine.')
  .option('--rows <names>', `what to measure, of: ${names.join(', ')}`, chosen, names)
  .option('--json', 'one JSON object per line')
  .option('--strict', 'exit with 1 when an aim is missed')
  .parse()

const { rows, json, strict } = program.opts<{ rows: Measurement[]; json?: true; strict?: true }>()
const opening = openWorld((line) => process.stderr.write(`${line}\n`))
const missed: string[] = []
let stopping: Promise<never> | undefined
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  // The servers are in process groups of their own, so they would outlive this process, also while they are being
  // started.
  process.once(signal, () => void (stopping ??= stop(code)))
}
try {
  const world = await opening
  for (const name of rows) {
    for (const figure of await measure(name, world)) {
      process.stdout.write(`${json ? toJson(figure) : toLine(figure)}\n`)
      if (!isMet(figure)) missed.push(figure.row)
    }
  }
  await world.close()
} catch (error) {
  // A measurement fails when its servers are stopped.
  if (stopping) await stopping
  await closeWorld()
  throw error
}
if (strict && missed.length > 0) process.exitCode = 1

async function measure<Name extends Measurement>(name: Name, world: World): Promise<Figure[]> {
  return figuresOf(name, await MEASUREMENTS[name](world))
}

async function stop(code: number): Promise<never> {
  process.stderr.write('stopping the servers\n')
  await closeWorld()
  process.exit(code)
}

async function closeWorld(): Promise<void> {
  const world = await opening.catch(() => undefined)
  await world?.close()
}

function chosen(value: string): Measurement[] {
  return value.split(',').map((wanted) => {
    const known = names.find((name) => name === wanted.trim())
    if (!known) throw new InvalidArgumentError(`unknown: ${wanted.trim()}`)
    return known
  })
}
