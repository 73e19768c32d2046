/** Bash in the foreground, with real processes. The same holds in a sandbox and without one. */
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { sandboxProblem } from '../../../../src/capabilities/sandbox/bubblewrap.ts'
import { useShell } from './shells.ts'

const problem = await sandboxProblem()
const MODES = problem === undefined ? (['off', 'required'] as const) : (['off'] as const)

afterEach(() => vi.unstubAllEnvs())

/** A name for a process that no other test uses. */
function nameOf(what: string): string {
  return `stello-${what}-${process.pid}`
}

/** The processes of that name, also those in sandboxes. */
function running(name: string): string[] {
  const commands = readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      } catch {
        return ''
      }
    })
  return commands.filter((command) => command.startsWith(name))
}

describe.each(MODES)('with sandbox: %s', (sandbox) => {
  it('gives both outputs in order, and says how the command ended', async () => {
    const { bash } = useShell({ sandbox })
    expect(await bash('echo one; echo two >&2; echo three')).toMatchObject({
      content: 'one\ntwo\nthree',
      isError: false,
    })
    expect(await bash('true')).toMatchObject({ isError: false })
    expect(await bash('echo no; exit 3')).toMatchObject({ content: 'no\nExit code 3', isError: true })
    expect(await bash('echo (')).toMatchObject({ content: expect.stringContaining('syntax error'), isError: true })
    expect(await bash('kill -9 $$')).toMatchObject({ isError: true })
  })

  it('works in the folder, and keeps the folder in which a command ends', async () => {
    const { bash, root } = useShell({ sandbox })
    expect(await bash('pwd; echo A > a.txt')).toMatchObject({ content: root })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('A\n')
    await bash('mkdir -p src/deep && cd src && x=1')
    expect(await bash('pwd; echo "[$x]"')).toMatchObject({ content: `${root}/src\n[]` })
    await bash('cd deep; exit 1')
    expect(await bash('pwd')).toMatchObject({ content: `${root}/src/deep` })
    expect(await bash('pwd', { cwd: '..' })).toMatchObject({ content: `${root}/src` })
    expect(await bash('cd /; pwd')).toMatchObject({
      content: expect.stringMatching(/^\/\n.*in the working directory again/),
    })
    expect(await bash('pwd')).toMatchObject({ content: root })
  })

  it.each(['..', '/', 'none', 'link'])('refuses the folder %s', async (cwd) => {
    const { bash, root, outside } = useShell({ sandbox })
    symlinkSync(outside, join(root, 'link'))
    expect(await bash('pwd', { cwd })).toMatchObject({
      isError: true,
      content: 'cwd must be a folder in the working directory.',
    })
  })

  it('has no input, so a command that reads input goes on', async () => {
    const { bash } = useShell({ sandbox })
    expect(await bash('cat; read x; echo "[$x]"')).toMatchObject({ content: '[]' })
  })

  it('ends a command that takes too long, and shows its output until then', async () => {
    const { bash } = useShell({ sandbox })
    expect(await bash('echo begun; sleep 600', { timeout: 3000 })).toMatchObject({
      content: 'begun\nCommand timed out after 3000 ms',
      isError: true,
      error: { type: 'timeout_error' },
    })
  })

  it('is ended with its call, and may clean up before', async () => {
    const { root, stopAtOutput } = useShell({ sandbox })
    await stopAtOutput('trap "sleep 0.3; echo in order > done; exit" TERM; echo begun; sleep 600 & wait')
    expect(readFileSync(join(root, 'done'), 'utf8')).toBe('in order\n')
  })

  it('is ended also when it ignores SIGTERM', async () => {
    const { stopAtOutput } = useShell({ sandbox })
    await stopAtOutput(
      `trap '' TERM; exec -a ${nameOf('stubborn')} bash -c "trap '' TERM; echo begun; while :; do sleep 1; done"`,
    )
    expect(running(nameOf('stubborn'))).toEqual([])
  })

  it('does not wait for processes that a command leaves behind, and ends them, daemons too', async () => {
    const { bash } = useShell({ sandbox })
    const left = nameOf('left')
    const command = `(exec -a ${left} sleep 500) & setsid bash -c '(exec -a ${left} sleep 600) & echo started'`
    expect(await bash(command)).toMatchObject({ content: 'started', isError: false })
    expect(running(left)).toEqual([])
  })

  it('shows both ends of an output of 100 MB, and keeps the first 50 MiB', async () => {
    const { bash } = useShell({ sandbox })
    const { content, isError } = await bash('echo begin; head -c 100000000 /dev/zero | tr "\\0" "x"; echo; echo end')
    expect(isError).toBe(false)
    expect(content.length).toBeLessThan(31_000)
    expect(content).toMatch(
      /^begin\nx+\n\n\[… the middle is left out: of 100000011 bytes; all of it: \S+ …\]\n\nx+\nend$/,
    )
    const [, path = ''] = /all of it: (\S+)/.exec(content) ?? []
    expect(statSync(path).size).toBe(50 * 1024 * 1024)
    expect(await bash(`head -c 5 ${path}`)).toMatchObject({ content: 'begin' })
  })

  it('shows plain text: no colours, no control characters, no broken UTF-8', async () => {
    const { bash } = useShell({ sandbox })
    const command = String.raw`printf '\033[31mred\033[0m a\0b\r\n1%%\r2%%\n\xff\xfe ü'`
    expect(await bash(command)).toMatchObject({ content: 'red ab\n1%\n2%\n\uFFFD\uFFFD ü' })
  })

  it('puts characters together that come in pieces', async () => {
    const { bash } = useShell({ sandbox })
    expect(await bash(String.raw`printf '\xe2'; sleep 0.05; printf '\x82\xac'`)).toMatchObject({ content: '€' })
  })

  it('gives a command only the variables that it needs', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-of-the-worker')
    vi.stubEnv('BASH_ENV', '/none')
    const { bash } = useShell({ sandbox, env: { GIVEN: 'by the author' } })
    const { content } = await bash('env | cut -d= -f1 | sort', { env: { OWN: 'x' } })
    const passed = 'HOME LANG LANGUAGE LC_ALL LC_CTYPE LOGNAME OLDPWD PATH PWD SHELL SHLVL TERM TZ USER _'.split(' ')
    const made = ['GIT_PAGER', 'GIT_TERMINAL_PROMPT', 'PAGER', 'STELLO_COMMAND', 'GIVEN', 'OWN']
    expect(content.split('\n').filter((name) => ![...passed, ...made].includes(name))).toEqual([])
    expect(content).toMatch(/^GIVEN$/m)
    expect(content).toMatch(/^OWN$/m)
  })

  it('writes no file that is larger than allowed', async () => {
    const { bash, root } = useShell({ sandbox, limits: { fileMiB: 1 } })
    expect(await bash('head -c 3000000 /dev/zero > big')).toMatchObject({ isError: true })
    expect(statSync(join(root, 'big')).size).toBe(1024 * 1024)
  })
})

describe.skipIf(problem !== undefined)('in the sandbox', () => {
  it('nothing beside the working folder is visible, and the system cannot be changed', async () => {
    const { bash, outside, root } = useShell()
    expect(await bash(`cat ${outside}/secret.txt`)).toMatchObject({
      content: expect.stringContaining('No such file'),
      isError: true,
    })
    expect(await bash('ls -A /root /home /var /srv /mnt 2>/dev/null')).toMatchObject({ isError: true })
    expect(await bash(`ls ${join(root, '../.stello/root/shells')}`)).toMatchObject({ isError: true })
    expect(await bash('touch /usr/x')).toMatchObject({ content: expect.stringContaining('Read-only file system') })
    expect(await bash('mkdir /new')).toMatchObject({ isError: true })
    const kept = `/tmp/${nameOf('kept')}`
    expect(await bash(`echo x > ${kept}`)).toMatchObject({ isError: false })
    expect(await bash(`cat ${kept}; echo $HOME`)).toMatchObject({ content: 'x\n/tmp' })
    expect(existsSync(kept)).toBe(false)
  })

  it('no other process is visible, and no privilege can be gained', async () => {
    const { bash } = useShell()
    const { content } = await bash(
      'cat /proc/[0-9]*/cmdline | tr "\\0" " "; grep -E "NoNewPrivs|CapEff" /proc/self/status',
    )
    expect(content).not.toContain('vitest')
    expect(content).toMatch(/CapEff:\s+0+\nNoNewPrivs:\s+1$/)
  })

  it('there is no network, unless it is allowed', async () => {
    const devices = 'tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " " | sort | tr "\\n" " "'
    expect(await useShell().bash(devices)).toMatchObject({ content: 'lo' })
    const here = readFileSync('/proc/net/dev', 'utf8')
      .split('\n')
      .slice(2)
      .map((line) => line.split(':')[0]?.trim())
      .filter(Boolean)
      .toSorted((a = '', b = '') => (a < b ? -1 : 1))
    expect(await useShell({ network: true }).bash(devices)).toMatchObject({ content: here.join(' ') })
  })

  it('further folders can be read, and not be written', async () => {
    const { outside } = useShell()
    const { bash } = useShell({ readable: [outside] })
    expect(await bash(`cat ${outside}/secret.txt; echo x > ${outside}/secret.txt`)).toMatchObject({
      content: expect.stringMatching(/^the secret outside.*Read-only file system/s),
    })
  })
})
