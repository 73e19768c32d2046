/** What the files for production and for installation say; what the servers make of it is tested in test/cluster. */
import { readFileSync } from 'node:fs'
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
  /** What CI and the image install: Linux with glibc, on x64 and arm64. */
  const installed = ({ os = ['linux'], cpu = ['x64'], libc = ['glibc'] }: Locked): boolean =>
    os.includes('linux') && (cpu.includes('x64') || cpu.includes('arm64')) && libc.includes('glibc')

  it('has the checksum of every package that CI and the image install, and names no registry', () => {
    const unknown = locked.filter(([, entry]) => installed(entry) && entry.integrity?.startsWith('sha512-') !== true)
    expect(unknown.map(([path]) => path)).toEqual([])
    expect(locked.filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
  })
})
