/** Short words for the tests of the session: a state, the events that happen to it, and the commands that follow. */
import type { Command } from '../../../src/session/commands.ts'
import type { Input } from '../../../src/session/inputs.ts'
import { initialState, type SessionState } from '../../../src/session/state.ts'
import { type NewSession } from '../../../src/protocol/session-input.ts'
import { step } from '../../../src/session/step.ts'
import type {
  CallRef,
  CallResult,
  ChildStart,
  ModelAnswer,
  ModelOutcome,
  Proposal,
  ToolOutcome,
} from '../../../src/protocol/steps.ts'

export const LIMITS = { maxToolRounds: 5, toolTimeoutMs: 1000, timeoutsBeforePause: 3 }

export interface Played {
  state: SessionState
  /** Of all events played, in order. */
  commands: Command[]
}

export function play(state: SessionState, ...events: Input[]): Played {
  return events.reduce<Played>(
    (played, event) => {
      const [next, commands] = step(played.state, event)
      return { state: next, commands: [...played.commands, ...commands] }
    },
    { state, commands: [] },
  )
}

export function opened(session: Partial<NewSession> = {}, limits: Partial<typeof LIMITS> = {}): SessionState {
  return play(initialState({ sessionId: 's-1', label: 'demo', ...session }), { type: 'runStarted' }, open(limits)).state
}

/** A session whose run has begun and is not open yet. */
export const unopened: SessionState = play(initialState({ sessionId: 's-1', label: 'demo' }), {
  type: 'runStarted',
}).state

export function open(limits: Partial<typeof LIMITS> = {}, name = 'scripted'): Input {
  const outcome = {
    kind: 'opened',
    gen: 0,
    seq: 0,
    turn: 0,
    limits: { ...LIMITS, ...limits },
    model: { name, timeoutMs: 1000 },
  } as const
  return { type: 'sessionOpened', outcome }
}

/** Opened in a new workflow: the one before was lost in the middle of the turn of that message. */
export function reopen(unanswered: string): Input {
  const { outcome, ...input } = open() as Extract<Input, { type: 'sessionOpened' }>
  return { ...input, outcome: { ...outcome, unanswered } as typeof outcome }
}

export const message = (messageId: string, text = 'hello'): Input => ({
  type: 'messageReceived',
  messageId,
  text,
})
export const pause: Input = { type: 'pauseRequested' }
export const resume: Input = { type: 'resumeRequested' }
export const cancel: Input = { type: 'cancelRequested' }
export const close: Input = { type: 'closeRequested', cascade: false }

/** The answer to the last announcement with that tag. */
export function announced(played: Played, tag: string, children: string[] = []): Input {
  const told = played.commands.findLast((command) => command.type === 'announce' && command.tag === tag)
  if (told?.type !== 'announce') throw new Error(`nothing was announced with the tag ${tag}`)
  const messageId = told.input.message?.messageId
  return {
    type: 'announced',
    key: told.input.key,
    tag: told.tag,
    outcome: { gen: told.input.gen, children },
    ...(messageId !== undefined && { messageId }),
  }
}

export const usage = { inputTokens: 10, outputTokens: 2 }

export function callRef(name: string, over: Partial<CallRef> = {}): CallRef {
  return { id: `call-${name}`, name, route: 'tool', preview: '{}', timeoutMs: 1000, ...over }
}

export function model(turn: number, round: number, outcome: ModelOutcome): Input {
  return { type: 'modelEnded', turn, round, outcome }
}

/** The model asks for tools; the answer is record `seq`. */
export function asks(turn: number, round: number, seq: number, ...calls: (string | CallRef)[]): Input {
  const refs = calls.map((call) => (typeof call === 'string' ? callRef(call) : call))
  return model(turn, round, answer(seq, { calls: refs }))
}

/** The model rests; its answer is record `seq`. */
export function rests(turn: number, round: number, seq: number, text = 'done'): Input {
  return model(turn, round, answer(seq, { text, stopReason: 'end_turn' }))
}

function answer(seq: number, over: Partial<ModelAnswer>): ModelAnswer {
  return { kind: 'answered', gen: 0, seq, calls: [], text: '', usage, ...over }
}

export function tool(turn: number, round: number, index: number, outcome: ToolOutcome = result()): Input {
  return { type: 'toolEnded', turn, round, index, outcome }
}

export function result(over: Partial<CallResult> = {}): CallResult {
  return { kind: 'settled', gen: 0, isError: false, preview: 'ok', durationMs: 5, ...over }
}

export const timeout: CallResult = result({ isError: true, code: 'TOOL_TIMEOUT' })

/** What the ledger makes of a proposal if nothing else has ended the call. */
export function settlement(proposed: Proposal): CallResult {
  switch (proposed.kind) {
    case 'timedOut':
      return timeout
    case 'cancelled':
      return result({ isError: true, code: 'TOOL_CANCELLED' })
    case 'childEnded':
      return result()
    case 'childLost':
    case 'answered':
    case 'expired':
      return result({ isError: proposed.kind === 'childLost' })
  }
}

export function child(sessionId = 's-child'): ChildStart {
  return { sessionId, config: { agent: 'a', label: `label of ${sessionId}` } }
}

/** The size of a state or of commands as JSON. */
export function bytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

export function types(commands: Command[]): string[] {
  return commands.map((command) => command.type)
}

export function only<T extends Command['type']>(commands: Command[], type: T): Extract<Command, { type: T }>[] {
  return commands.filter((command): command is Extract<Command, { type: T }> => command.type === type)
}
