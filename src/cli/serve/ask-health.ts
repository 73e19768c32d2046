/** Asks a worker process of this machine whether it can work. */
import { StelloError, messageOf } from '../../core/errors.ts'

const ANSWER_WITHIN_MS = 10_000

interface Asked {
  ok: boolean
  workers: { agent: string; problems: string[] }[]
}

/** @throws StelloError SERVER_UNREACHABLE when nobody answers there in time */
export async function askHealth(port: number): Promise<Asked> {
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
    const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal })
    const { ok, workers = [] } = (await response.json()) as Partial<Asked>
    return { ok: ok === true, workers }
  } catch (error) {
    throw new StelloError('SERVER_UNREACHABLE', `no worker answers on port ${port}: ${messageOf(error)}`, {
      hint: 'was it started with --metrics-port, and this port?',
    })
  }
}
