/** What the files for production and for installation say. What the servers make of them is tested in test/cluster. */
import { readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const read = (file: string): string => readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), 'utf8')

interface Service {
  cap_drop?: string[]
  security_opt?: string[]
  mem_limit?: string
  pids_limit?: number
  read_only?: boolean
  user?: string
  ports?: string[]
  privileged?: boolean
  environment?: Record<string, string>
}

const { services } = parse(read('docker-compose.yml'), { merge: true }) as { services: Record<string, Service> }

describe('docker-compose.yml', () => {
  it.each(Object.entries(services))(
    'confines %s: no capabilities, no new rights, bounds, ports on loopback',
    (_, service) => {
      expect(service).toMatchObject({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
      expect([typeof service.mem_limit, typeof service.pids_limit, service.privileged]).toEqual([
        'string',
        'number',
        undefined,
      ])
      expect((service.ports ?? []).filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([])
    },
  )

  it('gives PostgreSQL and the worker a root that is read-only', () => {
    expect([services['postgres']?.read_only, services['worker']?.read_only]).toEqual([true, true])
  })

  it('tells nobody but PostgreSQL the password of the superuser', () => {
    const told = Object.entries(services).filter(([, { environment }]) =>
      Object.values(environment ?? {}).some((value) => value.includes('POSTGRES_PASSWORD')),
    )
    expect(told.map(([name]) => name)).toEqual(['postgres'])
  })

  it('runs no container as root', () => {
    expect(services['postgres']?.user).toBe('70:70')
    expect(read('Dockerfile')).toMatch(/^USER node$/m)
  })
})

describe('.github/workflows/ci.yml', () => {
  interface Job {
    container: string
    strategy: { 'fail-fast': boolean; matrix: { node: number[] } }
    steps: { uses?: string; run?: string; env?: Record<string, string>; with?: Record<string, unknown> }[]
  }
  const { on, jobs } = parse(read('.github/workflows/ci.yml')) as { on: Record<string, unknown>; jobs: { ci: Job } }
  const { container, strategy, steps } = jobs.ci

  it('runs what CI runs anywhere, on every push to main and every pull request', () => {
    expect(Object.keys(jobs)).toEqual(['ci'])
    expect(steps.at(-1)).toEqual({ run: '.ci/run', env: { STELLO_CI_NODE: '${{ matrix.node }}' } })
    expect(on).toEqual({ push: { branches: ['main'] }, pull_request: null })
    expect(statSync(fileURLToPath(new URL('../../.ci/run', import.meta.url))).mode & 0o111).toBe(0o111)
  })

  it('has a job for each version of Node that docs/deploy.md calls supported, beginning with the oldest of package.json', () => {
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } }
    const supported = [...read('docs/deploy.md').matchAll(/^\| Node (\d+) \|/gm)].map(([, version]) => Number(version))
    expect(strategy.matrix.node).toEqual(supported)
    expect(`${strategy.matrix.node[0]}`).toBe(/\d+/.exec(engines.node)?.[0])
    expect(container).toBe('node:${{ matrix.node }}-bookworm')
    // The image, and CI where no version is named, take the one that is supported longest.
    const latest = supported.at(-1)
    expect(read('Dockerfile').match(/^FROM node:\d+/gm)).toEqual([`FROM node:${latest}`, `FROM node:${latest}`])
    expect(read('.ci/run')).toContain(`\${STELLO_CI_NODE:-${latest}}`)
    expect(strategy['fail-fast']).toBe(false)
  })

  it('keeps packages and the Temporal program from run to run', () => {
    const kept = steps.find(({ uses }) => uses?.startsWith('actions/cache@'))
    expect(String(kept?.with?.['path']).split('\n')).toEqual(expect.arrayContaining(['~/.npm', '~/.cache']))
  })
})

describe('package-lock.json', () => {
  interface Locked {
    integrity?: string
    resolved?: string
    os?: string[]
    cpu?: string[]
    libc?: string[]
  }
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> }
  const locked = Object.entries(packages).filter(([path]) => path !== '')
  /** The packages that CI and the image install: Linux with glibc, on x64 and arm64. */
  const installed = ({ os = ['linux'], cpu = ['x64'], libc = ['glibc'] }: Locked): boolean =>
    os.includes('linux') && (cpu.includes('x64') || cpu.includes('arm64')) && libc.includes('glibc')

  it('has the checksum of every package that CI and the image install, and names no registry', () => {
    const unknown = locked.filter(([, entry]) => installed(entry) && entry.integrity?.startsWith('sha512-') !== true)
    expect(unknown.map(([path]) => path)).toEqual([])
    expect(locked.filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
  })
})
