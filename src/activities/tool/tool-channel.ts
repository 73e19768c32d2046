/**
 * The two channels of one call: its result for the model, and its card and updates for people. A result that is set
 * before the call runs does not count. Everything that is sent after the call's end is lost.
 */
import { StelloError } from '../../core/errors.ts'
import { preview } from '../../core/message.ts'
import { withoutKnown } from '../../core/secrets.ts'
import { ToolStatus, hasEnded, mergeCard, type ToolCard, type ToolStatusOptions } from '../../tool/tool-status.ts'
import type { Tool, ToolContext } from '../../tool/tool.ts'
import type { CallNames } from '../../protocol/steps.ts'
import type { LiveStep, OpenCard } from '../live-writer.ts'
import { shown } from './shown.ts'

/** Longest parameters on a card, and longest update, as JSON. */
const SHOWN_LIMIT = 4096
/** Longest result on a card, as JSON. */
const RESULT_LIMIT = 64 * 1024
const NOTE_LIMIT = 1000

type Phase = 'streaming' | 'running' | 'ended'

/** Where people see the call now. */
export interface Stage {
  live: LiveStep
  /** Takes the latest update, for people who look at the running step in Temporal. */
  note?(detail: unknown): void
}

export class ToolChannel {
  #call: CallNames
  #stage: Stage
  #phase: Phase = 'streaming'
  #card: ToolCard | undefined
  #result: { value: unknown } | undefined
  /** The latest update of each kind. */
  readonly #updates = new Map<string, unknown>()

  constructor(call: CallNames, stage: Stage) {
    this.#call = call
    this.#stage = stage
  }

  /** The card and the updates that people have seen until now. Their size is limited. */
  get card(): ToolCard | undefined {
    return this.#card
  }

  /**
   * The latest update of each kind. It is told again at the end, because a streamed update may be lost, most likely the
   * last one.
   */
  get updates(): readonly (readonly [kind: string, update: unknown])[] {
    return [...this.#updates]
  }

  /** To be called when the arguments are complete. A result counts from now on. */
  start(call: CallNames, stage: Stage): void {
    this.#call = call
    this.#stage = stage
    this.#phase = 'running'
  }

  end(): void {
    this.#phase = 'ended'
  }

  status(status: ToolStatus, { showTip, params, result }: ToolStatusOptions = {}): void {
    // A tool in JavaScript may send anything.
    if (this.#phase === 'ended' || !Object.hasOwn(ToolStatus, status)) return
    const card = mergeCard(this.#card, status, {
      ...(showTip !== undefined && { showTip: preview(withoutKnown(String(showTip))) }),
      ...(params !== undefined && { params: toParams(shown(params, SHOWN_LIMIT)) }),
      ...(result !== undefined && { result: shown(result, RESULT_LIMIT) }),
    })
    this.#card = card.params ? { ...card, params: toParams(shown(card.params, SHOWN_LIMIT)) } : card
    if (isOpen(this.#card)) this.#stage.live.card(this.#call, this.#card)
  }

  /** The result that was set, or else the value that the tool returned. */
  resultOf({ name, answersBy }: Tool, returned: unknown): unknown {
    if (this.#result) return this.#result.value
    if (answersBy !== 'channel') return returned
    throw new StelloError(
      'TOOL_EXECUTION_ERROR',
      `tool "${name}" ended without a result: it did not call setToolResult`,
    )
  }

  /** The part of a tool's context that uses this channel. */
  get context(): Pick<
    ToolContext,
    'setToolResult' | 'sendToolStatus' | 'onUpdate' | 'onProgress' | 'updateOutput' | 'callId' | 'requestId'
  > {
    return {
      callId: this.#call.id,
      requestId: this.#call.id,
      setToolResult: async (value) => {
        if (this.#phase === 'running') this.#result = { value }
      },
      sendToolStatus: async (_requestId, status, options) => this.status(status, options),
      onUpdate: (update) => this.#tell('update', update),
      onProgress: (message) => this.#tell('progress', message),
      updateOutput: (output) => this.#tell('output', output),
    }
  }

  #tell(kind: 'update' | 'progress' | 'output', value: unknown): void {
    if (this.#phase === 'ended') return
    // People want to see the end of a long output.
    const told = typeof value === 'string' ? withoutKnown(value).slice(-SHOWN_LIMIT) : shown(value, SHOWN_LIMIT)
    const update = kind === 'update' ? told : { [kind]: told }
    this.#updates.set(kind, update)
    this.#stage.live.update(this.#call, kind, update)
    this.#stage.note?.(shown(update, NOTE_LIMIT))
  }
}

/** The end of a call is not shown here: it is certain only when the step is settled, and that tells it. */
function isOpen(card: ToolCard): card is OpenCard {
  return !hasEnded(card)
}

/** A note replaces parameters that cannot be shown. As a field of its own it is not merged letter by letter. */
function toParams(shownParams: unknown): Record<string, unknown> {
  return typeof shownParams === 'object' ? { ...shownParams } : { '…': shownParams }
}
