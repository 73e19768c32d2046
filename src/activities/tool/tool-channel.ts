/**
 * The two channels of one call: its result, for the model, and its card and updates, for people. What is sent before the
 * call runs cannot be its result; what is sent after its end is lost.
 */
import { StelloError } from '../../core/errors.ts'
import { preview } from '../../core/message.ts'
import { withoutKnown } from '../../core/secrets.ts'
import { ToolStatus, hasEnded, mergeCard, type ToolCard, type ToolStatusOptions } from '../../tool/tool-status.ts'
import type { Tool, ToolContext } from '../../tool/tool.ts'
import type { CallNames } from '../../protocol/steps.ts'
import type { LiveStep, OpenCard } from '../live-writer.ts'
import { shown } from './shown.ts'

/** Of the parameters on a card, and of one update, as JSON. */
const SHOWN_LIMIT = 4096
/** Of the result on a card. */
const RESULT_LIMIT = 64 * 1024
const NOTE_LIMIT = 1000

type Phase = 'streaming' | 'running' | 'ended'

/** Where people see a call at the moment. */
export interface Stage {
  live: LiveStep
  /** Takes the latest update, for whoever looks at the running step in Temporal. */
  note?(detail: unknown): void
}

export class ToolChannel {
  #call: CallNames
  #stage: Stage
  #phase: Phase = 'streaming'
  #card: ToolCard | undefined
  #result: { value: unknown } | undefined
  /** By kind. */
  readonly #updates = new Map<string, unknown>()

  constructor(call: CallNames, stage: Stage) {
    this.#call = call
    this.#stage = stage
  }

  /** What people have been told so far, bounded. */
  get card(): ToolCard | undefined {
    return this.#card
  }

  /** The latest that was told of each kind: what streams may be lost, and the last of it at the end most likely. */
  get updates(): readonly (readonly [kind: string, update: unknown])[] {
    return [...this.#updates]
  }

  /** The arguments are complete: from here on there can be a result. */
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

  /** The result: what was set, else what the tool returned. */
  resultOf({ name, answersBy }: Tool, returned: unknown): unknown {
    if (this.#result) return this.#result.value
    if (answersBy !== 'channel') return returned
    throw new StelloError(
      'TOOL_EXECUTION_ERROR',
      `tool "${name}" ended without a result: it did not call setToolResult`,
    )
  }

  /** The part of a tool's context that leads here. */
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
    // Of an output people want to see the end.
    const told = typeof value === 'string' ? withoutKnown(value).slice(-SHOWN_LIMIT) : shown(value, SHOWN_LIMIT)
    const update = kind === 'update' ? told : { [kind]: told }
    this.#updates.set(kind, update)
    this.#stage.live.update(this.#call, kind, update)
    this.#stage.note?.(shown(update, NOTE_LIMIT))
  }
}

/** An end is certain, and told, when the step is settled. */
function isOpen(card: ToolCard): card is OpenCard {
  return !hasEnded(card)
}

/** A note takes the place of parameters that cannot be shown; it must not be merged letter by letter. */
function toParams(shownParams: unknown): Record<string, unknown> {
  return typeof shownParams === 'object' ? { ...shownParams } : { '…': shownParams }
}
