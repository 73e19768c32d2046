/**
 * A coding job, from nothing to a repaired project: the agent looks, asks a person before it runs a command, edits, and
 * runs the tests again.
 *
 *   npm run demo:coding -- [--crash] [--yes] [--json]
 */
import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { connectStello, type SessionHandle } from '../../src/client/index.ts'
import { openDevServers } from '../../src/dev/dev-servers.ts'
import { startFakeOpenAI } from '../../src/testing/index.ts'
import { onStage, runProgram, say } from '../stage.ts'
import { keepWorker } from '../worker-process.ts'
import { answerApprovals } from './approvals.ts'
import { testsOf } from './project-tests.ts'
import { repairer } from './repairer.ts'
import { showSteps } from './steps.ts'

const AGENT = new URL('agent.ts', import.meta.url)
const PROJECT = fileURLToPath(new URL('project', import.meta.url))
const TASK = 'The tests of this project fail. Repair it.'
/** The answers are slow, so that people can watch the offline model at work, and kill it. */
const MODEL_DELAY_MS = 300
/** The number of finished tool calls after which `--crash` kills the worker. */
const CRASH_AFTER = [2, 5] as const

interface Options {
  crash?: boolean
  yes?: boolean
  json?: boolean
}

async function main(options: Options): Promise<void> {
  await onStage('the project was repaired', async (stage) => {
    const servers = await stage.open(openDevServers({ onProgress: say }), (it) => it.stop())
    const folder = newProject()
    const isOffline = !process.env['OPENAI_API_KEY'] && !process.env['OPENAI_BASE_URL']
    const offline = isOffline ? await stage.open(startFakeOpenAI({ model: slow() }), (it) => it.close()) : undefined
    say(`Project:   ${folder} (a copy; its tests fail)`)
    say(`Model:     ${offline ? 'offline repairer (rule-based; set OPENAI_API_KEY for a real model)' : 'a real one'}`)
    const environment = {
      TEMPORAL_ADDRESS: servers.temporal.address,
      STELLO_DATABASE_URL: servers.postgres.url,
      CODING_FOLDER: folder,
      ...(offline && { OPENAI_BASE_URL: offline.url, OPENAI_API_KEY: 'offline', CODING_MODEL: 'offline-repairer' }),
    }
    const connection = { temporalAddress: servers.temporal.address, databaseUrl: servers.postgres.url }
    const worker = await stage.open(keepWorker({ agent: AGENT, environment, note: say }), (it) => it.stop())
    const stello = await stage.open(connectStello({ ...connection, home: servers.home }), (it) => it.close())
    const session = await stello.createSession({ agent: 'coding', label: 'repair the project' })
    const steps = showSteps(session)
    stage.atEnd(() => steps.stop())
    const approvals = answerApprovals(session, { yes: options.yes === true || !process.stdin.isTTY })
    stage.atEnd(() => approvals.stop())

    const turn = await session.send(TASK, { messageId: 'task' })
    const result = turn.result()
    result.catch(() => undefined)
    const job = Promise.race([result, stage.stopped, approvals.failed, worker.failed])
    for (const calls of options.crash ? CRASH_AFTER : []) {
      await Promise.race([steps.until(calls), job])
      await Promise.race([worker.kill(), job])
    }
    const { text } = await job
    await steps.stop()
    const { passed, failed } = await testsOf(folder)
    const summary = { folder, answer: text, passed, failed, approvals: approvals.count(), toolCalls: steps.count() }
    if (options.json) process.stdout.write(`${JSON.stringify(summary)}\n`)
    else await print(session, summary)
    if (failed > 0 || passed === 0) process.exitCode = 1
  })
}

/**
 * Each run has a copy of its own. It is not in the folder of the servers: git ignores that folder, so the tools that
 * search ignore it too.
 */
function newProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stello-coding-'))
  cpSync(PROJECT, folder, { recursive: true })
  return folder
}

async function print(session: SessionHandle, { folder, answer, passed, failed, ...counts }: Summary): Promise<void> {
  const lines = [
    '',
    answer,
    '',
    `${failed === 0 && passed > 0 ? '✓' : '✗'} ${passed} tests pass, ${failed} fail`,
    `Project      ${folder}`,
    `Session      ${session.id}`,
    `Tool calls   ${counts.toolCalls}, ${counts.approvals} of them permitted by a person`,
    '',
    'Next:',
    '  npm run demo:coding -- --crash   kill the worker twice; the result is the same',
    '',
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

interface Summary {
  folder: string
  answer: string
  passed: number
  failed: number
  approvals: number
  toolCalls: number
}

function slow(): ReturnType<typeof repairer> {
  const model = repairer()
  return {
    name: model.name,
    async complete(messages, options) {
      await delay(MODEL_DELAY_MS)
      return model.complete(messages, options)
    },
  }
}

await runProgram(
  new Command('demo:coding')
    .description('A coding job with a person who permits commands')
    .option('--crash', 'kill the worker process twice on the way')
    .option('--yes', 'permit every command without asking')
    .option('--json', 'print the summary as one JSON object on the last line of stdout')
    .action(main),
)
