/**
 * Shells in the background: they outlive the process that started them, and every process of the host can control them.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { sandboxProblem } from '../../../../src/capabilities/sandbox/bubblewrap.ts'
import { lookAtShell } from '../../../../src/capabilities/shell/background-shells.ts'
import { idOf, useShell } from './shells.ts'

const MODES = (await sandboxProblem()) === undefined ? (['off', 'required'] as const) : (['off'] as const)
const BACKGROUND = { run_in_background: true }

describe.each(MODES)('with sandbox: %s', (sandbox) => {
  it('a shell is started at once, and its output is read piece by piece', async () => {
    const { bash, call, root } = useShell({ sandbox })
    const begun = await bash('echo one; until [ -e go ]; do sleep 0.02; done; echo two; exit 3', BACKGROUND)
    const task_id = idOf(begun)
    expect(begun).toMatchObject({ isError: false, content: expect.stringContaining(`as ${task_id}.`) })
    await expect
      .poll(async () => (await call('TaskOutput', { task_id, block: false })).content, { timeout: 30_000 })
      .toBe('<status>running</status>\n<output>\none\n</output>')
    expect((await call('TaskOutput', { task_id, timeout: 1 })).content).toBe(
      '<status>running</status>\n<output>\n\n</output>',
    )
    writeFileSync(join(root, 'go'), '')
    expect((await call('TaskOutput', { task_id })).content).toBe(
      '<status>failed</status>\n<exit_code>3</exit_code>\n<output>\ntwo\n</output>',
    )
  })

  it.each(['KillShell', 'TaskStop'])('%s ends it and what it started; a second time does the same', async (tool) => {
    const { bash, call } = useShell({ sandbox })
    const task_id = idOf(await bash(`trap '' TERM; sleep 600 & sleep 600`, BACKGROUND))
    const end = async (): Promise<unknown> => JSON.parse((await call(tool, { task_id })).content)
    expect(await end()).toMatchObject({ shell_id: task_id, status: 'killed', already_exited: false })
    expect(await end()).toMatchObject({ shell_id: task_id, status: 'killed', already_exited: true })
    expect((await call('TaskOutput', { task_id })).content).toContain('<status>killed</status>')
  })
})

/** How many keepers there are for the shells of a working folder. */
function keepersOf(root: string): number {
  const commands = readdirSync('/proc').map((pid) => {
    try {
      return /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : ''
    } catch {
      return ''
    }
  })
  return commands.filter((command) => command.includes('shell-keeper') && command.includes(join(root, '..'))).length
}

it('a keeper that names no process is lost, so that nothing is signalled', async () => {
  const { root } = useShell({ sandbox: 'off' })
  for (const keeper of [{ pid: -1 }, { pid: 0 }, { pid: 2 ** 30 }]) {
    writeFileSync(join(root, 'keeper.json'), JSON.stringify(keeper))
    expect(await lookAtShell(root)).toMatchObject({ status: 'lost' })
  }
})

it('a call that is repeated starts no second shell, also when both begin at once', async () => {
  const { tool, context, root } = useShell({ sandbox: 'off' })
  const args = { command: 'echo x >> count; until [ -e go ]; do sleep 0.02; done', run_in_background: true }
  const ctx = context()
  const results = await Promise.all([1, 2, 3].map(() => tool('Bash').execute(args, ctx)))
  const [first] = results as { metadata: { shell_id: string } }[]
  expect(results).toEqual([first, first, first])
  // Three keepers may have started. All but one find that the shell has a keeper already.
  await expect.poll(() => keepersOf(root), { timeout: 30_000 }).toBe(1)
  writeFileSync(join(root, 'go'), '')
  await tool('TaskOutput').execute({ task_id: first?.metadata.shell_id }, ctx)
  expect(await tool('Bash').execute(args, ctx)).toEqual(first)
  expect(readFileSync(join(root, 'count'), 'utf8')).toBe('x\n')
  expect(await tool('Bash').verify?.(args, ctx)).toEqual({ happened: true, result: first })
  expect(await tool('Bash').verify?.(args, context())).toEqual({ happened: false })
  expect(await tool('Bash').verify?.({ command: 'ls' }, ctx)).toBeUndefined()
})

it('a shell outlives the worker that started it, and is controlled by the next one', async () => {
  const { root, call } = useShell({ sandbox: 'off' })
  const worker = spawn(
    process.execPath,
    ['--import', 'tsx', fileURLToPath(new URL('starting.ts', import.meta.url)), root],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    },
  )
  const [told] = (await once(worker.stdout, 'data')) as [Buffer]
  process.kill(-(worker.pid as number), 'SIGKILL')
  await once(worker, 'exit')
  const task_id = told.toString().trim()
  writeFileSync(join(root, 'go'), '')
  await expect
    .poll(async () => (await call('TaskOutput', { task_id, block: false })).content, { timeout: 30_000 })
    .toContain('still here')
  expect(JSON.parse((await call('KillShell', { shell_id: task_id })).content)).toMatchObject({ status: 'killed' })
})

it('a shell whose keeper is gone is lost, and a reused pid is not taken for it', async () => {
  const { bash, call, root } = useShell({ sandbox: 'off' })
  const task_id = idOf(await bash('sleep 600', BACKGROUND))
  const folder = join(root, '../.stello/root/shells', task_id)
  const keeper = JSON.parse(readFileSync(join(folder, 'keeper.json'), 'utf8')) as { pid: number; started: string }
  expect(await lookAtShell(folder)).toEqual({ status: 'running', pid: keeper.pid })
  expect(JSON.parse((await call('KillShell', { shell_id: task_id })).content)).toMatchObject({ status: 'killed' })
  // As after a crash of the host: another process has the pid now.
  const stranger = spawn('sleep', ['600'])
  writeFileSync(join(folder, 'keeper.json'), JSON.stringify({ ...keeper, pid: stranger.pid }))
  execFileSync('rm', [join(folder, 'exit.json')])
  expect(await lookAtShell(folder)).toEqual({ status: 'lost', pid: stranger.pid })
  expect(JSON.parse((await call('KillShell', { shell_id: task_id })).content)).toMatchObject({
    status: 'lost',
    already_exited: true,
  })
  expect(stranger.exitCode ?? stranger.signalCode).toBeNull()
  stranger.kill('SIGKILL')
})

it('a shell is ended when its time is over', async () => {
  const { bash, call } = useShell({ sandbox: 'off' })
  const task_id = idOf(await bash('echo begun; sleep 600', { ...BACKGROUND, timeout: 1000 }))
  const { content } = await call('TaskOutput', { task_id })
  expect(content).toContain('<status>failed</status>\nIt took longer than its timeout and was ended.')
})

it('no more than sixteen run at once', { timeout: 120_000 }, async () => {
  const { bash, call } = useShell({ sandbox: 'off' })
  const started = await Promise.all(Array.from({ length: 16 }, () => bash('sleep 600', BACKGROUND)))
  expect(await bash('sleep 600', BACKGROUND)).toMatchObject({
    isError: true,
    content: expect.stringContaining('16 shells'),
  })
  await call('KillShell', { shell_id: idOf(started[0] as never) })
  expect(await bash('sleep 600', BACKGROUND)).toMatchObject({ isError: false })
})

it('a long output is shown by its ends', async () => {
  const { bash, call } = useShell({ sandbox: 'off' })
  const task_id = idOf(await bash('echo begin; head -c 3000000 /dev/zero | tr "\\0" x; echo; echo end', BACKGROUND))
  const { content } = await call('TaskOutput', { task_id })
  expect(content.length).toBeLessThan(31_000)
  expect(content).toMatch(/<output>\nbegin\nx+[^]*left out[^]*x+\nend\n<\/output>$/)
})

it.each(['bash_none', 'bash_/../x', 'bash_000000000000', 'bash_000000000000/../x'])(
  'there is no shell %s',
  async (task_id) => {
    const { call } = useShell()
    for (const tool of ['TaskOutput', 'TaskStop', 'KillShell']) {
      expect(await call(tool, { task_id })).toMatchObject({
        isError: true,
        content: expect.stringContaining('There is no shell'),
      })
    }
  },
)
