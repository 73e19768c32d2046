/**
 * One agent module that `stello dev` serves. After a save another worker is started; only when it serves is the earlier
 * one told to stop, and it hands over what it cannot finish. A module that cannot be loaded changes nothing: the earlier
 * worker goes on. A worker that dies by itself is started again.
 */
import { messageOf } from '../../core/errors.ts'
import { startWorkerChild, type ChildOptions, type WorkerChild } from './worker-child.ts'

export interface ServedFile {
  readonly agent: string
  /** Replaces the worker. Requests that come meanwhile lead to one more replacement together. Never rejects. */
  renew(): Promise<void>
  stop(): Promise<void>
}

/** How many deaths between two saves end the restarts. A step that kills its workers is given up after three. */
const DEATHS = 5

interface Served extends Omit<ChildOptions, 'env' | 'signal'> {
  /** Called for each worker, because a file with settings may have changed. */
  env(): NodeJS.ProcessEnv
  /** Two workers cannot serve at once: they would open the same port. */
  alone?: boolean
}

export async function serveFile(given: Served): Promise<ServedFile> {
  const { say, alone = false } = given
  const stopping = new AbortController()
  const start = (): Promise<WorkerChild> => startWorkerChild({ ...given, env: given.env(), signal: stopping.signal })
  let current = await start()
  let renewing = Promise.resolve()
  let waits = false
  let deaths = 0
  const replaced = new WeakSet<WorkerChild>()
  const dead = new WeakSet<WorkerChild>()
  const guard = (worker: WorkerChild): void => {
    void worker.ended.then(() => {
      dead.add(worker)
      if (stopping.signal.aborted || worker !== current || replaced.has(worker)) return
      deaths += 1
      const again = deaths < DEATHS
      say(
        `the worker of "${worker.agent}" has ended; ${again ? 'another is started' : 'it is started again after a save'}`,
      )
      if (again) void renewSoon()
    })
  }
  guard(current)

  async function renew(): Promise<void> {
    waits = false
    if (stopping.signal.aborted) return
    const earlier = current
    try {
      if (alone) await leave(earlier)
      const next = await start()
      current = next
      guard(next)
      say(`serves "${next.agent}" anew`)
      await leave(earlier)
    } catch (error) {
      if (stopping.signal.aborted) return
      const nobody = alone || dead.has(earlier)
      say(`${messageOf(error)}\n  ${nobody ? `nothing serves "${earlier.agent}" now` : 'the earlier version goes on'}`)
    }
  }
  function renewSoon(): Promise<void> {
    if (!waits) {
      waits = true
      renewing = renewing.then(renew)
    }
    return renewing
  }
  function leave(worker: WorkerChild): Promise<void> {
    replaced.add(worker)
    return worker.stop()
  }
  return {
    get agent() {
      return current.agent
    },
    renew() {
      deaths = 0
      return renewSoon()
    },
    async stop() {
      stopping.abort()
      await renewing
      await current.stop()
    },
  }
}
