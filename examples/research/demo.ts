/**
 * The research job, from nothing to a checked report: development servers, a worker process, a tree of sessions.
 *
 *   npm run demo -- [question] [--docs DIR] [--crash] [--json]
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { StelloError } from '../../src/agent/errors.ts'
import { treeLines } from '../../src/cli/format.ts'
import { interrupted } from '../../src/cli/interrupted.ts'
import { explain } from '../../src/cli/output.ts'
import { connectStello, type SessionHandle, type StelloClient } from '../../src/client/index.ts'
import { openDevServers } from '../../src/dev/dev-servers.ts'
import { startFakeOpenAI } from '../../src/testing/index.ts'
import { openDocuments } from './documents.ts'
import { planner } from './planner.ts'
import { showProgress, type Progress } from './progress.ts'
import { verifyQuotations } from './verify.ts'
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts'

const QUESTION = 'How do these packages handle errors, timeouts, streams and validation?'
/** So that the offline planner can be watched, and killed, at work. */
const PLANNER_DELAY_MS = 300
/** Finished model calls after which `--crash` kills the worker: the readers are in the middle of their work. */
const CRASH_AFTER = 4
/** The command, in a checkout. */
const STELLO = 'npx tsx src/cli/main.ts'

interface Options {
  docs: string
  crash?: boolean
  json?: boolean
}

interface Summary {
  question: string
  report: string
  docs: string
  sessions: number
  modelCalls: number
  /** Calls made again although their ledger row was finished. */
  repeatedModelCalls: number
  /** Calls that were under way when the worker was killed, and were made again. */
  retriedInFlight: number
  toolCalls: number
  inputTokens: number
  outputTokens: number
  quotations: number
  verified: boolean
  temporalUi: string | undefined
  model: string
}

async function main(question: string, options: Options): Promise<void> {
  const home = process.env['STELLO_HOME'] ?? '.stello'
  const report = join(home, 'report.md')
  const callLog = join(home, 'model-calls.log')
  const documents = openDocuments(options.docs)
  const files = existsSync(options.docs) ? await documents.files() : []
  if (files.length === 0) {
    throw new StelloError('INVALID_ARGUMENT', `there are no Markdown files in ${options.docs}`, {
      hint: 'name a folder with --docs',
    })
  }
  const stop = interrupted()
  const stopped = stop.then((): never => {
    throw new Error('stopped before the report was written')
  })
  stopped.catch(() => undefined)
  const say = (line: string): void => void process.stderr.write(`${line}\n`)
  say(`Question:  ${question}`)
  say(`Documents: ${files.length} Markdown files in ${options.docs}`)

  const servers = await openDevServers({ onProgress: say })
  mkdirSync(home, { recursive: true })
  for (const old of [report, callLog]) rmSync(old, { force: true })
  const offline =
    process.env['OPENAI_API_KEY'] || process.env['OPENAI_BASE_URL']
      ? undefined
      : await startFakeOpenAI({ model: slow(planner()) })
  say(
    offline
      ? 'Model:     offline planner (rule-based; set OPENAI_API_KEY for a real model)'
      : 'Model:     as OPENAI_API_KEY / OPENAI_BASE_URL say',
  )
  const environment = {
    TEMPORAL_ADDRESS: servers.temporal.address,
    STELLO_DATABASE_URL: servers.postgres.url,
    RESEARCH_DOCS: documents.folder,
    RESEARCH_REPORT: report,
    RESEARCH_CALL_LOG: callLog,
    ...(offline && { OPENAI_BASE_URL: offline.url, OPENAI_API_KEY: 'offline', RESEARCH_MODEL: 'offline-planner' }),
  }
  let worker = await startWorkerProcess(environment)
  const stello = await connectStello({
    temporalAddress: servers.temporal.address,
    databaseUrl: servers.postgres.url,
    home: servers.home,
  })
  let progress: Progress | undefined
  try {
    const session = await stello.createSession({ agent: 'research', label: 'research' })
    progress = showProgress(session, {
      tree: process.stderr.isTTY && !options.json,
      lines: !process.stderr.isTTY || options.json === true,
    })
    const job = research(stello, session, question, progress)
    let killedInFlight = 0
    if (options.crash) {
      const crashed = progress.until((_event, counts) => counts.modelCalls >= CRASH_AFTER)
      await Promise.race([crashed, job, stopped])
      const killed = await crash(worker, session, progress)
      killedInFlight = killed
      worker = await startWorkerProcess(environment)
      progress.note('… another worker goes on')
    }
    await Promise.race([job, stopped])
    const tree = await session.tree()
    await progress.stop()
    if (!existsSync(report)) {
      throw new StelloError('MODEL_REFUSED_REQUEST', 'the model wrote no report', {
        hint: `read what it did: \`${STELLO} transcript ${session.id}\``,
      })
    }
    const text = readFileSync(report, 'utf8')
    const quotations = await verifyQuotations(text, documents)
    const again = callsOf(tree, callLog) - progress.counts.modelCalls
    const summary: Summary = {
      question,
      report,
      docs: documents.folder,
      sessions: size(tree),
      ...progress.counts,
      retriedInFlight: Math.min(again, killedInFlight),
      repeatedModelCalls: Math.max(0, again - killedInFlight),
      quotations: quotations.length,
      verified: quotations.length > 0 && quotations.every((quotation) => quotation.found),
      temporalUi: stello.uiLink(session.id),
      model: offline ? 'offline-planner' : (process.env['RESEARCH_MODEL'] ?? 'gpt-5-mini'),
    }
    for (const { found, file, line } of quotations) if (!found) say(`✗ not found literally: ${file}:${line}`)
    if (options.json) process.stdout.write(`${JSON.stringify(summary)}\n`)
    else print(summary, process.stderr.isTTY ? [] : treeLines(tree), session.id)
    if (!summary.verified) process.exitCode = 1
    if (process.stdout.isTTY && !options.json) {
      say('The servers and the worker stay until Ctrl-C, so that the link works.')
      await stop
    }
  } finally {
    await progress?.stop().catch(() => undefined)
    await stello.close()
    await worker.stop()
    await offline?.close()
    await servers.stop()
  }
}

/** Turn 1 hands the parts out; the forked session gets its part as a signal from here; turn 2 writes the report. */
async function research(
  stello: StelloClient,
  session: SessionHandle,
  question: string,
  progress: Progress,
): Promise<void> {
  const first = await session.send(question, { messageId: 'question' })
  const paused = progress
    .until((event) => event.type === 'session.paused')
    .then(async ({ sessionId, data }) => {
      throw new StelloError(
        'SESSION_PAUSED',
        `session ${sessionId} is paused (${String(data['reason'])}): ${String(data['message'])}`,
        {
          hint: `mend it, run \`${STELLO} dev examples/research/agent.ts\` and, beside it, \`${STELLO} resume ${sessionId}\``,
        },
      )
    })
  const forked = progress.until((event) => event.type === 'session.forked' && event.data['awaited'] === false)
  const work = async (): Promise<void> => {
    const aside = await Promise.race([
      forked.then(({ data }) => String(data['child'])),
      first.result().then(() => openChild(session)),
    ])
    const findings =
      aside === undefined ? 'No other session works on a part. Write the report now.' : await askAside(stello, aside)
    await first.result()
    await (await session.send(findings, { messageId: 'findings' })).result()
  }
  await Promise.race([paused, work()])
}

/** A real model may have done without a fork, or the news of it come later than the answer. */
async function openChild(session: SessionHandle): Promise<string | undefined> {
  return (await session.tree()).children.find((child) => child.state !== 'closed')?.id
}

async function askAside(stello: StelloClient, id: string): Promise<string> {
  const aside = stello.session(id)
  const part = (await aside.state()).label
  const { text } = await (await aside.send(part, { messageId: 'part' })).result()
  return `Findings on “${part}”:\n\n${text}`
}

/** Strikes while a model call is under way, if there comes one. @returns how many there were */
async function crash(worker: WorkerProcess, session: SessionHandle, progress: Progress): Promise<number> {
  for (let looks = 0; looks < 100 && inHand(await session.tree()) === 0; looks++) await delay(20)
  await worker.kill()
  const inFlight = inHand(await session.tree())
  progress.note(`✗ worker killed (SIGKILL) with ${inFlight} model calls under way`)
  return inFlight
}

type Tree = Awaited<ReturnType<SessionHandle['tree']>>

function inHand(tree: Tree): number {
  return (
    tree.inHand.filter((step) => step.kind === 'model').length +
    tree.children.reduce((sum, child) => sum + inHand(child), 0)
  )
}

/** Calls the worker has made for this tree: an earlier run that was broken off may go on beside it. */
function callsOf(tree: Tree, callLog: string): number {
  const ids = new Set(idsOf(tree))
  return readFileSync(callLog, 'utf8')
    .split('\n')
    .filter((line) => ids.has(line.split(':')[0] ?? '')).length
}

function idsOf(tree: Tree): string[] {
  return [tree.id, ...tree.children.flatMap(idsOf)]
}

function size(tree: Tree): number {
  return 1 + tree.children.reduce((sum, child) => sum + size(child), 0)
}

function slow(model: ReturnType<typeof planner>): ReturnType<typeof planner> {
  return {
    name: model.name,
    async complete(messages, options) {
      await delay(PLANNER_DELAY_MS)
      return model.complete(messages, options)
    },
  }
}

function print(summary: Summary, tree: string[], sessionId: string): void {
  const { verified, quotations } = summary
  const check = verified
    ? `every quotation (${quotations}) stands literally where its source says`
    : `not every quotation could be verified (${quotations} checked)`
  process.stdout.write(
    `${[
      '',
      ...tree,
      '',
      `${verified ? '✓' : '✗'} ${check}`,
      `Report       ${relative('.', summary.report) || summary.report}`,
      `Sessions     ${summary.sessions}`,
      `Model calls  ${summary.modelCalls} finished, ${summary.repeatedModelCalls} of them repeated, ${summary.retriedInFlight} retried that a crash cut off`,
      `Tool calls   ${summary.toolCalls}`,
      `Tokens       ${summary.inputTokens} in, ${summary.outputTokens} out (${summary.model})`,
      `Temporal UI  ${summary.temporalUi ?? 'unknown'}`,
      '',
      'Next:',
      '  npm run demo -- --crash                   kill the worker in the middle; the result is the same',
      '  npm run demo -- "your question" --docs .  another question, other documents',
      `  ${STELLO} send ${sessionId} "…" --wait   ask the session more (while a worker runs)`,
      '  rm -r .stello                             forget everything',
      '',
    ].join('\n')}\n`,
  )
}

const program = new Command('demo')
  .description('A research job on real documents')
  .argument('[question]', 'what to research', QUESTION)
  .option('--docs <dir>', 'folder with Markdown files', 'node_modules')
  .option('--crash', 'kill the worker process in the middle and start another')
  .option('--json', 'print the summary as one JSON object on the last line of stdout')
  .action(main)

try {
  await program.parseAsync()
  process.exit()
} catch (error) {
  process.stderr.write(`${explain(error)}\n`)
  process.exit(1)
}
