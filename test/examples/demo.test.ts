/** The demo as people run it: development servers, a worker process, a tree of sessions, a checked report. */
import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { openDocuments } from '../../examples/research/documents.ts'
import { planner } from '../../examples/research/planner.ts'
import { verifyQuotations } from '../../examples/research/verify.ts'
import { loadDevInfo } from '../../src/dev/dev-info.ts'
import { isAlive } from '../../src/dev/processes.ts'
import { startFakeOpenAI } from '../../src/testing/index.ts'
import { linesOf, newFolder, startScript, type Ended } from '../cli/command.ts'
import { CTRL_C, openTerminal } from '../support/terminal.ts'
import { newHome } from './homes.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DEMO = fileURLToPath(new URL('../../examples/research/demo.ts', import.meta.url))

function demo(home: string, args: string[] = [], env: Record<string, string> = {}): Promise<Ended> {
  return startScript(DEMO, ['--json', ...args], { env: { STELLO_HOME: home, ...env } }).ended
}

async function serversAlive(home: string): Promise<(boolean | undefined)[]> {
  const info = await loadDevInfo(home)
  return [info?.temporal.process, info?.postgres.process].map((server) => server && isAlive(server))
}

/** What still runs on the folder: a server, or a worker that was given the folder. */
async function processesWith(home: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('pgrep', ['--full', '--list-full', home]).catch(() => ({ stdout: '' }))
  return stdout.split('\n').filter(Boolean)
}

async function summaryOf({ code, stdout, stderr }: Ended): Promise<Record<string, unknown>> {
  expect(code, stderr).toBe(0)
  const lines = linesOf(stdout)
  expect(lines).toHaveLength(1)
  return lines[0] ?? {}
}

describe('the demo', () => {
  it('ends with a verified report, and with the same one when the worker is killed in the middle', async () => {
    const home = await newHome()
    const plain = await summaryOf(await demo(home))
    expect(plain).toMatchObject({
      verified: true,
      sessions: 5,
      repeatedModelCalls: 0,
      retriedInFlight: 0,
      model: 'offline-planner',
    })
    expect(plain['quotations']).toBeGreaterThanOrEqual(6)
    const report = await readFile(join(home, 'report.md'), 'utf8')

    const ended = await demo(home, ['--crash'])
    const crashed = await summaryOf(ended)
    expect(ended.stderr).toMatch(/the worker has ended[^]*another worker goes on/)
    const { modelCalls, toolCalls, quotations } = plain
    expect(crashed).toMatchObject({
      verified: true,
      sessions: 5,
      repeatedModelCalls: 0,
      modelCalls,
      toolCalls,
      quotations,
    })
    expect(await readFile(join(home, 'report.md'), 'utf8')).toBe(report)
  }, 240_000)

  it('goes on with another worker when somebody kills the one that it has named', async () => {
    const home = await newHome()
    const running = startScript(DEMO, ['--json'], { env: { STELLO_HOME: home } })
    const named = await running.printed('session.forked')
    process.kill(Number(/^Worker: +process (\d+)/m.exec(named)?.[1]), 'SIGKILL')
    await running.printed('another worker goes on')
    const ended = await running.ended
    expect(await summaryOf(ended)).toMatchObject({ verified: true, sessions: 5, repeatedModelCalls: 0 })
    expect(ended.stderr).toMatch(/the worker has ended[^]*another worker goes on/)
    expect(await processesWith(home)).toEqual([])
  })

  it('ends with 1 and says what to do when there are no documents', async () => {
    const folder = await newFolder()
    await mkdir(join(folder, 'empty'))
    for (const docs of [join(folder, 'empty'), join(folder, 'nowhere')]) {
      const { code, stdout, stderr } = await demo(await newHome(), ['--docs', docs])
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toBe(`stello: there are no Markdown files in ${docs}\n  name a folder with --docs\n`)
    }
  })

  it('stops its servers on Ctrl-C in the middle', async () => {
    const home = await newHome()
    const running = startScript(DEMO, ['--json'], { env: { STELLO_HOME: home } })
    await running.printed('session.forked')
    running.kill('SIGINT')
    const { code, stdout, stderr } = await running.ended
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/\nstello: stopped before the report was written\n$/)
    expect(await serversAlive(home)).toEqual([false, false])
  })

  it('keeps its server for the link on a terminal, shows the finished tree, and leaves nothing behind at Ctrl-C', async () => {
    const home = await newHome()
    const terminal = openTerminal(['npm', 'run', '--silent', 'demo'], { cwd: ROOT, env: { STELLO_HOME: home } })
    const output = await terminal.printed('until Ctrl-C')
    // Each frame ends with its counts. The last one stands above the summary.
    const lastFrame = output
      .slice(0, output.indexOf('every quotation'))
      .split(/\d+ model calls, \d+ tool calls/)
      .at(-2)
    expect(lastFrame).toMatch(/research/)
    expect(lastFrame).not.toMatch(/running|waiting/)
    expect(output).toMatch(/Temporal UI +http:/)
    terminal.press(CTRL_C)
    const { output: all } = await terminal.ended
    expect(all).toContain('stopping …')
    expect(await serversAlive(home)).toEqual([false, false])
    expect(await processesWith(home)).toEqual([])
  })

  it.each(['starting PostgreSQL', 'session.forked'])(
    'leaves nothing behind at Ctrl-C on a terminal right after "%s"',
    async (moment) => {
      const home = await newHome()
      const command = ['npm', 'run', '--silent', 'demo', '--', '--json']
      const terminal = openTerminal(command, { cwd: ROOT, env: { STELLO_HOME: home } })
      await terminal.printed(moment)
      terminal.press(CTRL_C)
      const { output } = await terminal.ended
      expect(output).toContain('stopped before the report was written')
      expect(await serversAlive(home)).not.toContain(true)
      expect(await processesWith(home)).toEqual([])
    },
  )

  it('counts refusals of a provider apart from repetitions, and shows no link to a server that it has stopped', async () => {
    const provider = await startFakeOpenAI({ model: planner() })
    const limited = { status: 429, headers: { 'retry-after-ms': '1' }, times: 3 }
    provider.failNext(limited)
    const home = await newHome()
    const env = { OPENAI_BASE_URL: provider.url, OPENAI_API_KEY: 'any' }
    const summary = await summaryOf(await demo(home, [], env))
    await provider.close()
    expect(summary).toMatchObject({ repeatedModelCalls: 0, retriedInFlight: 0, refusedByProvider: 3 })
    expect(summary).not.toHaveProperty('temporalUi')
  })

  it('ends with 1, the reason and the command that resumes when the key is wrong', async () => {
    const provider = await startFakeOpenAI({ script: ['never'], apiKey: 'right' })
    const { code, stdout, stderr } = await demo(await newHome(), [], {
      OPENAI_BASE_URL: provider.url,
      OPENAI_API_KEY: 'wrong-key',
    })
    await provider.close()
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^stello: session [\w-]+ is paused \(model_error\): .*API key.*\n.* resume [\w-]+/m)
    expect(stderr).not.toMatch(/wrong-key|\n {4}at /)
  })
})

describe('verifyQuotations', () => {
  it('finds quotations that stand at their source, and rejects those that were changed by hand', async () => {
    const docs = await newFolder()
    await writeFile(join(docs, 'a.md'), '# A\n\nTimeouts are in milliseconds.\nThey start at once.\n')
    const documents = openDocuments(docs)
    const report = '> Timeouts are in milliseconds.\n> They start at once.\n\n— a.md:3\n'
    const check = async (text: string): Promise<boolean[]> =>
      (await verifyQuotations(text, documents)).map(({ found }) => found)
    expect(await check(report)).toEqual([true])
    expect(await check(report.replace('milliseconds', 'seconds'))).toEqual([false])
    expect(await check(report.replace('a.md:3', 'a.md:2'))).toEqual([false])
    expect(await check(report.replace('a.md', 'b.md'))).toEqual([false])
    expect(await check(report.replace('a.md', '../a.md'))).toEqual([false])
    expect(await check(`${report}\n${report.replace('at once', 'later')}`)).toEqual([true, false])
  })
})
