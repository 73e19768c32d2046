/**
 * The research job, from nothing to a checked report: development servers, a worker process, a tree of sessions.
 *
 *   npm run demo -- [question] [--docs DIR] [--crash] [--json]
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { StelloError } from '../../src/core/errors.ts'
import { treeLines } from '../../src/cli/output/format.ts'
import { printable } from '../../src/cli/output/printable.ts'
import { connectStello, type SessionHandle } from '../../src/client/index.ts'
import { openDevServers } from '../../src/dev/dev-servers.ts'
import { startFakeOpenAI } from '../../src/testing/index.ts'
import { onStage, runProgram, say } from '../stage.ts'
import { keepWorker } from '../worker-process.ts'
import { countCalls } from './call-log.ts'
import { openDocuments } from './documents.ts'
import { STELLO, research } from './job.ts'
import { NO_INSIGHT, planner } from './planner.ts'
import { showProgress } from './progress.ts'
import { idsOf, inHand, print, type Summary } from './summary.ts'
import { verifyQuotations } from './verify.ts'

const AGENT = new URL('agent.ts', import.meta.url)
const QUESTION = 'How do these packages handle errors, timeouts, streams and validation?'
/** The answers are slow, so that people can watch the offline planner at work, and kill it. */
const PLANNER_DELAY_MS = 300
/**
 * The number of finished model calls after which `--crash` kills the worker. The readers are in the middle of their
 * work then.
 */
const CRASH_AFTER = 4

interface Options {
  docs: string
  crash?: boolean
  json?: boolean
}

async function main(question: string, options: Options): Promise<void> {
  const home = process.env['STELLO_HOME'] ?? '.stello'
  const documents = openDocuments(options.docs)
  const files = existsSync(options.docs) ? await documents.files() : []
  if (files.length === 0) {
    throw new StelloError('INVALID_ARGUMENT', `there are no Markdown files in ${options.docs}`, {
      hint: 'name a folder with --docs',
    })
  }
  say(`Question:  ${question}`)
  say(`Documents: ${files.length} Markdown files in ${options.docs}`)
  await onStage('the report was written', async (stage) => {
    const { stop, stopped } = stage
    const servers = await stage.open(openDevServers({ onProgress: say }), (it) => it.stop())
    const isOffline = !process.env['OPENAI_API_KEY'] && !process.env['OPENAI_BASE_URL']
    const offline = isOffline
      ? await stage.open(startFakeOpenAI({ model: slow(planner()) }), (it) => it.close())
      : undefined
    say(
      `Model:     ${offline ? `offline planner. ${NO_INSIGHT} Set OPENAI_API_KEY for a real model` : 'as OPENAI_API_KEY / OPENAI_BASE_URL say'}`,
    )
    const callLog = join(home, `model-calls-${process.pid}.log`)
    stage.atEnd(async () => rmSync(callLog, { force: true }))
    const environment = {
      TEMPORAL_ADDRESS: servers.temporal.address,
      STELLO_DATABASE_URL: servers.postgres.url,
      RESEARCH_DOCS: documents.folder,
      RESEARCH_REPORT: join(home, 'report.md'),
      RESEARCH_CALL_LOG: callLog,
      ...(offline && { OPENAI_BASE_URL: offline.url, OPENAI_API_KEY: 'offline', RESEARCH_MODEL: 'offline-planner' }),
    }
    const stello = await stage.open(
      connectStello({
        temporalAddress: servers.temporal.address,
        databaseUrl: servers.postgres.url,
        home: servers.home,
      }),
      (it) => it.close(),
    )
    const session = await stello.createSession({ agent: 'research', label: 'research' })
    const progress = showProgress(session, {
      tree: process.stderr.isTTY && !options.json,
      lines: !process.stderr.isTTY || options.json === true,
    })
    stage.atEnd(() => progress.stop().catch(() => undefined))
    let killedInFlight = 0
    const ended = async (): Promise<string> => {
      const inFlight = inHand(await session.tree())
      killedInFlight += inFlight
      return ` with ${inFlight} model calls under way`
    }
    const worker = await stage.open(keepWorker({ agent: AGENT, environment, note: progress.note, ended }), (it) =>
      it.stop(),
    )
    const job = Promise.race([research(stello, session, question, progress), worker.failed, stopped])
    if (options.crash) {
      await Promise.race([progress.until((_event, { modelCalls }) => modelCalls >= CRASH_AFTER), job])
      await callUnderWay(session)
      await Promise.race([worker.kill(), job])
    }
    await job
    await progress.stop()
    const report = progress.report()
    if (report === undefined || !existsSync(report)) {
      throw new StelloError('MODEL_REFUSED_REQUEST', 'the model wrote no report', {
        hint: `read what it did: \`${STELLO} transcript ${session.id}\``,
      })
    }
    const tree = await session.tree()
    const quotations = await verifyQuotations(readFileSync(report, 'utf8'), documents)
    const { again, refused } = countCalls(callLog, new Set(idsOf(tree)))
    const stays = process.stdout.isTTY && !options.json
    const link = stays ? stello.uiLink(session.id) : undefined
    const summary: Summary = {
      question,
      report,
      docs: documents.folder,
      sessions: idsOf(tree).length,
      ...progress.counts,
      retriedInFlight: Math.min(again, killedInFlight),
      repeatedModelCalls: Math.max(0, again - killedInFlight),
      refusedByProvider: refused,
      quotations: quotations.length,
      verified: quotations.length > 0 && quotations.every((quotation) => quotation.found),
      ...(link !== undefined && { temporalUi: link }),
      model: offline ? 'offline-planner' : (process.env['RESEARCH_MODEL'] ?? 'gpt-5.4-mini'),
    }
    for (const { found, file, line } of quotations) if (!found) say(`✗ not found literally: ${file}:${line}`)
    if (options.json) process.stdout.write(`${JSON.stringify(summary)}\n`)
    else print(summary, process.stderr.isTTY ? [] : treeLines(printable(tree)), session.id)
    if (!summary.verified) process.exitCode = 1
    if (stays) {
      say('The servers and the worker stay until Ctrl-C, so that the link works.')
      await Promise.race([stop, worker.failed])
      say('stopping …')
    }
  })
}

/** Waits until a model call is under way, if one begins soon. */
async function callUnderWay(session: SessionHandle): Promise<void> {
  for (let looks = 0; looks < 100 && inHand(await session.tree()) === 0; looks++) await delay(20)
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

const program = new Command('demo')
  .description('A research job on real documents')
  .argument('[question]', 'what to research', QUESTION)
  .option('--docs <dir>', 'folder with Markdown files', 'node_modules')
  .option('--crash', 'kill the worker process in the middle and start another')
  .option('--json', 'print the summary as one JSON object on the last line of stdout')
  .action(main)

await runProgram(program)
