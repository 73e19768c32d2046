/** The ways to find a Temporal program. The programs are shell scripts: nothing is really downloaded or built here. */
import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { findTemporal, type FindTemporalOptions } from '../../src/dev/find-temporal.ts'

const NEW = 'temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)'
let folder: string
let bin: string
let server: Server | undefined
let lines: string[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stello-find-'))
  bin = join(folder, 'bin')
  lines = []
  await mkdir(bin)
  vi.stubEnv('XDG_CACHE_HOME', join(folder, 'cache'))
  vi.stubEnv('PATH', bin)
})

afterEach(async () => {
  vi.unstubAllEnvs()
  server?.close()
  server = undefined
  await rm(folder, { recursive: true, force: true })
})

function find(options: FindTemporalOptions = {}): ReturnType<typeof findTemporal> {
  return findTemporal({ downloadUrl: 'http://127.0.0.1:1', onProgress: (line) => lines.push(line), ...options })
}

async function script(path: string, body: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 })
}

async function serve(archive: Buffer | undefined): Promise<string> {
  server = createServer((_, response) => void (archive ? response.end(archive) : undefined))
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it('lists every way that was tried, with its reason, when there is none', async () => {
  const error = await find().catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'SERVER_UNREACHABLE', hint: expect.stringContaining('install the Temporal CLI') })
  const { message } = error as Error
  expect(message).toContain('TEMPORAL_ADDRESS: not set')
  expect(message).toContain('temporal on the PATH: there is none')
  expect(message).toContain(`cached copy: no ${join(folder, 'cache')}`)
  expect(message).toMatch(/download: http:\/\/127\.0\.0\.1:1\/\S+: \S+/)
  expect(message).toContain('go install: no go on the PATH')
})

it('takes the program on the PATH first', async () => {
  await script(join(bin, 'temporal'), `echo "${NEW}"`)
  expect(await find()).toEqual({
    path: join(bin, 'temporal'),
    version: '1.5.1 (server 1.29.1)',
    source: 'temporal on the PATH',
  })
})

it.each([
  ['temporal version 0.0.0-DEV (Server 1.29.1, UI 2.42.1)', true],
  ['temporal version 1.1.0 (Server 1.25.0, UI 2.30.3)', true],
  ['temporal version 1.0.0 (Server 1.24.2, UI 2.28.0)', false],
  ['temporal version 0.0.0-DEV (Server 1.24.2, UI 2.28.0)', false],
  ['tctl version 1.18.1', false],
  ['who knows', false],
])('judges a program that says "%s": %s', async (text, accepted) => {
  await script(join(bin, 'temporal'), `echo "${text}"`)
  const found = await find().then(
    () => true,
    () => false,
  )
  expect(found).toBe(accepted)
})

it('skips a program that is too old and downloads one, which the next run finds in the cache', async () => {
  await script(join(bin, 'temporal'), 'echo "temporal version 0.9.0"')
  await script(join(folder, 'temporal'), `echo "${NEW}"`)
  const archive = execFileSync('tar', ['-cz', '-C', folder, 'temporal'], { env: { PATH: '/usr/bin:/bin' } })
  const downloadUrl = await serve(archive)
  vi.stubEnv('PATH', `${bin}:/usr/bin:/bin`)

  const downloadSha256 = createHash('sha256').update(archive).digest('hex')
  const downloaded = await find({ downloadUrl, downloadSha256 })
  expect(downloaded.source).toBe('download')
  expect(lines.join('\n')).toContain('version 0.9.0; 1.1 or later is needed')
  expect(await find()).toEqual({ ...downloaded, source: 'cached copy' })
})

it('takes only the published archive', async () => {
  await script(join(folder, 'temporal'), `echo "${NEW}"`)
  const archive = execFileSync('tar', ['-cz', '-C', folder, 'temporal'], { env: { PATH: '/usr/bin:/bin' } })
  const got = createHash('sha256').update(archive).digest('hex')
  await expect(find({ downloadUrl: await serve(archive) })).rejects.toThrow(`its SHA-256 is ${got}, not `)
  await expect(find({ install: false })).rejects.toThrow(/cached copy: no /)
})

it('takes no program from a cache that others may have written to', async () => {
  const cached = join(folder, 'cache/stello-temporal/temporal-1.5.1')
  await mkdir(cached, { recursive: true })
  await script(join(cached, 'temporal'), `echo "${NEW}"`)
  expect((await find()).source).toBe('cached copy')
  await chmod(join(cached, 'temporal'), 0o777)
  await expect(find({ install: false })).rejects.toThrow('may have been written by another user')
})

it('goes on after 5 seconds when the download service does not answer', async () => {
  await expect(find({ downloadUrl: await serve(undefined) })).rejects.toThrow('silent for 5 s')
})

it('builds the program once in the cache for two installers at the same time', async () => {
  const calls = join(folder, 'calls')
  await script(
    join(bin, 'go'),
    [
      `echo "$@" >> ${calls}`,
      'echo "go: downloading go.temporal.io/server v1.29.1" >&2',
      `printf '#!/bin/sh\\necho "${NEW}"\\n' > "$GOBIN/temporal"`,
      '/bin/chmod +x "$GOBIN/temporal"',
    ].join('\n'),
  )
  const [one, other] = await Promise.all([find(), find()])

  expect(new Set([one.source, other.source])).toEqual(new Set(['go install', 'cached copy']))
  expect(one.path).toBe(other.path)
  expect(await readFile(calls, 'utf8')).toBe('install github.com/temporalio/cli/cmd/temporal@v1.5.1\n')
})

it('tells why a build failed', async () => {
  await script(join(bin, 'go'), 'echo "go: no space left on device" >&2; exit 1')
  await expect(find()).rejects.toThrow('go install: exited with code 1: go: no space left on device')
})

it('installs nothing when it is told not to', async () => {
  await script(join(bin, 'go'), `touch ${join(folder, 'built')}`)
  await expect(find({ install: false })).rejects.not.toThrow('go install')
  await expect(readFile(join(folder, 'built'))).rejects.toThrow('ENOENT')
})
