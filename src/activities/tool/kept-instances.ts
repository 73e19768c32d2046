/**
 * Keeps tools for calls whose arguments streamed in here until these calls run here. Perhaps that never happens,
 * because another worker gets the session's next step.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../core/errors.ts'
import { callKey, type CallAt } from '../../protocol/keys.ts'
import type { CallToolInput } from '../../protocol/steps.ts'
import type { ToolInstance } from './tool-instance.ts'

/** How long an instance waits for its call. After that it is disposed of. */
const KEPT_MS = 60_000
/** How long the disposal of an instance may take. After that it is forgotten, because there may be many of them. */
const DISPOSE_MS = 60_000
/** How long a stopping worker waits for disposals. */
const CLOSE_MS = 5000

export class KeptInstances {
  readonly #parked = new Map<string, { use: ToolInstance; timer: NodeJS.Timeout }>()
  readonly #ending = new Set<Promise<void>>()
  readonly #warn: (message: string) => void
  readonly #disposeMs: number

  constructor(warn: (message: string) => void, { disposeMs = DISPOSE_MS }: { disposeMs?: number } = {}) {
    this.#warn = warn
    this.#disposeMs = disposeMs
  }

  /** How many instances are being disposed of. */
  get ending(): number {
    return this.#ending.size
  }

  /** @param id `instanceId` of the call */
  park(id: string, use: ToolInstance): void {
    this.end(this.take(id))
    const timer = setTimeout(() => this.end(this.take(id)), KEPT_MS).unref()
    this.#parked.set(id, { use, timer })
  }

  take(id: string): ToolInstance | undefined {
    const parked = this.#parked.get(id)
    clearTimeout(parked?.timer)
    this.#parked.delete(id)
    return parked?.use
  }

  /** Disposes of an instance without waiting: work of a tool after its call must not delay the session. */
  end(use: ToolInstance | undefined): void {
    if (!use) return
    const ended = use.dispose().catch((error: unknown) => this.#warn(`a tool's dispose failed: ${messageOf(error)}`))
    this.#ending.add(ended)
    const forget = setTimeout(() => {
      this.#ending.delete(ended)
      this.#warn(`a tool's dispose has not ended within ${this.#disposeMs / 1000} s and is no longer waited for`)
    }, this.#disposeMs).unref()
    void ended.finally(() => {
      clearTimeout(forget)
      this.#ending.delete(ended)
    })
  }

  async close(): Promise<void> {
    for (const id of this.#parked.keys()) this.end(this.take(id))
    await Promise.race([Promise.all(this.#ending), delay(CLOSE_MS, undefined, { ref: false })])
  }
}

/** The id of a call's instance. It is the same in the step where the call streams in and in the step where it runs. */
export function instanceId(gen: number, { sessionId, ...at }: Pick<CallToolInput, 'sessionId' | keyof CallAt>): string {
  return `${sessionId}/${gen}/${callKey(at)}`
}
