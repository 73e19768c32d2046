/** What `stello doctor` finds out about this machine, one finding per check. Must never start or change anything. */
import { existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { sandboxProblem } from '../capabilities/sandbox/bubblewrap.ts'
import { messageOf, toStelloError } from '../core/errors.ts'
import { loadDevInfo, resolveHome, type DevInfo } from '../dev/dev-info.ts'
import { findTemporal } from '../dev/find-temporal.ts'
import { isListening } from '../dev/ports.ts'
import { isAlive } from '../dev/processes.ts'

export interface Finding {
  name: string
  /** False: sessions do not run as they should until it is repaired. */
  ok: boolean
  /** It works, but somebody should look at it. */
  warning?: true
  detail: string
  /** What to do about it. */
  hint?: string
}

/**
 * Checks what a session needs on this machine, without the servers.
 *
 * @param home folder of the development servers; default `STELLO_HOME`, else `.stello`
 * @example
 * for (const { ok, name, detail } of await diagnose()) console.log(ok ? '✓' : '✗', name, detail)
 */
export async function diagnose(home?: string): Promise<Finding[]> {
  const folder = await resolveHome(home)
  let [info, distrust]: [DevInfo | undefined, Finding[]] = [undefined, []]
  try {
    info = await loadDevInfo(folder)
  } catch (error) {
    distrust = [finding({ name: 'dev.json', ok: false, detail: messageOf(error), hint: toStelloError(error)?.hint })]
  }
  const asked = [program(), sandbox(), ports(info), disk(folder)]
  return [node(), ...distrust, ...(await Promise.all<Finding | Finding[]>(asked)).flat()]
}

function node(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const ok = major > 20 || (major === 20 && minor >= 19)
  return finding({ name: 'Node', ok, detail: process.version, hint: 'install Node 20.19 or later' })
}

async function program(): Promise<Finding> {
  try {
    const { path, version, source } = await findTemporal({ install: false })
    return finding({ name: 'Temporal program', ok: true, detail: `${version}, ${source}: ${path}` })
  } catch (error) {
    return finding({
      name: 'Temporal program',
      ok: Boolean(process.env['TEMPORAL_ADDRESS']),
      detail: messageOf(error),
      hint: '`stello dev` will get one',
    })
  }
}

/** Agents without a shell need none. */
async function sandbox(): Promise<Finding> {
  const problem = await sandboxProblem()
  const none = `none, so commands reach what the worker reaches: ${problem}`
  return finding({ name: 'Sandbox of shell tools', ok: true, detail: problem === undefined ? 'bubblewrap' : none })
}

async function ports(info: DevInfo | undefined): Promise<Finding[]> {
  const claims = [
    { name: 'Temporal', port: info?.temporal.port, server: info?.temporal.process },
    { name: "Temporal's UI", port: info?.temporal.uiPort, server: info?.temporal.process },
    { name: 'PostgreSQL', port: info?.postgres.port, server: info?.postgres.process },
  ]
  return Promise.all(
    claims
      .filter(({ port }) => port !== undefined)
      .map(async ({ name, port = 0, server }) => {
        const [listening, alive] = [await isListening(port), server !== undefined && isAlive(server)]
        const state = listening
          ? alive
            ? 'in use by our server'
            : 'in use by a stranger: the next start takes another'
          : 'free'
        return finding({
          name: `Port of ${name}`,
          ok: listening === alive,
          detail: `${port}, ${state}`,
          hint: 'run `stello dev`',
        })
      }),
  )
}

async function disk(home: string): Promise<Finding> {
  let folder = home
  while (!existsSync(folder)) folder = dirname(folder)
  const { bavail, bsize } = await statfs(folder)
  const gigabytes = (bavail * bsize) / 1e9
  const detail = `${gigabytes.toFixed(1)} GB free for ${home}`
  return finding({ name: 'Disk', ok: gigabytes > 1, detail, hint: 'free at least 1 GB' })
}

interface Found extends Omit<Finding, 'hint'> {
  hint?: string | undefined
}

/** Where all is well, nothing is to be done. */
function finding({ name, ok, detail, hint }: Found): Finding {
  return ok || hint === undefined ? { name, ok, detail } : { name, ok, detail, hint }
}
