/** Servers for tests of agents: the development servers, in a folder of their own that is thrown away. */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDevServers, removeDevHome } from '../dev/dev-servers.ts'

/** Real servers, for one run of tests. It fits what `startWorker` and `connectStello` take. */
export interface TestServers {
  /** `host:port` of Temporal. */
  temporalAddress: string
  /** Temporal's namespace. */
  namespace: string
  /** The URL of PostgreSQL, with its password. */
  databaseUrl: string
  /** Ends both servers and throws their data away. */
  stop(): Promise<void>
}

/**
 * Starts a Temporal server and a PostgreSQL of their own, which takes a few seconds: once for all tests of a run.
 *
 * @param options `onProgress`: a line for people at each step
 * @throws StelloError SERVER_UNREACHABLE, DATABASE_UNREACHABLE when one cannot be started
 * @example
 * const servers = await startTestServers()
 * const worker = await startWorker({ agent, ...servers })
 * // … tests …
 * await worker.stop()
 * await servers.stop()
 */
export async function startTestServers(options: { onProgress?: (line: string) => void } = {}): Promise<TestServers> {
  const home = join(await mkdtemp(join(tmpdir(), 'stello-test-')), '.stello')
  const servers = await openDevServers({ ...options, home })
  return {
    temporalAddress: servers.temporal.address,
    namespace: servers.temporal.namespace,
    databaseUrl: servers.postgres.url,
    async stop() {
      await servers.stop({ force: true })
      await removeDevHome(home)
    },
  }
}
