/**
 * The keys of steps and events, and the ids that are made of them. Only this file writes and reads them. A key is
 * unique within a session and generation. It says nothing more: the place of an event stands beside its key
 * (`EventPlace` in `events.ts`).
 */
import { slug } from '../core/slug.ts'

/** A round of a turn. */
export interface RoundAt {
  turn: number
  round: number
}

/** A call of a round, by its index in the model's answer. */
export interface CallAt extends RoundAt {
  index: number
}

/** A step by what it asks: after a rewind, a step of the same key may ask something else. */
export interface AskingStep {
  sessionId: string
  key: string
  inputHash: string
}

/** The step that opens a session. If a client has forked the session, the step prepares it too. */
export const OPEN_KEY = 'open'

/** If a call waits for its child's answer, the key of the step that opens the child is the call's key and this. */
const OPENING = `.${OPEN_KEY}`
const CALL = /^t(\d{1,15})\.(\d{1,15})\.(\d{1,15})$/
/** The call in an origin, also as the step that opens a child and as one of several agents. */
const ORIGIN_CALL = /^(t\d{1,15}\.\d{1,15}\.\d{1,15})(?:\.open|#\d+)?$/
const MODEL = /^m(\d{1,15})\.(\d{1,15})$/
const ROUND = /^[mt](\d{1,15})\.(\d{1,15})(?!\d)/
const PENDING = /^(.+)@(\d{1,15})\.(\d{1,15})$/

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'
/** What an id begins with if no name has a Latin letter or a digit. */
const NAMELESS = 's'
const FNV_OFFSET = 0xcbf29ce484222325n
const FNV_PRIME = 0x100000001b3n

/** The model step of a round. @example modelKey({ turn: 3, round: 0 }) // 'm3.0' */
export function modelKey({ turn, round }: RoundAt): string {
  return `m${turn}.${round}`
}

/** The round whose model the step asks; undefined if it is no such step. */
export function readModelKey(key: string): RoundAt | undefined {
  const [, turn, round] = MODEL.exec(key) ?? []
  return round === undefined ? undefined : { turn: Number(turn), round: Number(round) }
}

/** The step that makes a conversation shorter. @param n its number in the session, from 1 @example compactionKey(2) // 'c2' */
export function compactionKey(n: number): string {
  return `c${n}`
}

/** The step of a call. @example callKey({ turn: 3, round: 0, index: 2 }) // 't3.0.2' */
export function callKey({ turn, round, index }: CallAt): string {
  return `t${turn}.${round}.${index}`
}

/** The call that the step key belongs to; undefined if it is no key of a call. */
export function readCallKey(key: string): CallAt | undefined {
  const [, turn, round, index] = CALL.exec(key) ?? []
  return index === undefined ? undefined : { turn: Number(turn), round: Number(round), index: Number(index) }
}

/** The round that the step belongs to; undefined if it belongs to none. */
export function readRound(key: string): RoundAt | undefined {
  const [, turn, round] = ROUND.exec(key) ?? []
  return round === undefined ? undefined : { turn: Number(turn), round: Number(round) }
}

/** The step that opens a child whose answer its call waits for. @param call key of the call */
export function openingKey(call: string): string {
  return `${call}${OPENING}`
}

/** The key of the call whose child the step opens; undefined if the step opens no child. */
export function readOpeningKey(key: string): string | undefined {
  return key.endsWith(OPENING) ? key.slice(0, -OPENING.length) : undefined
}

/** The step that tells user code about a fork. @param step key of the step that forked */
export function hookKey(step: string): string {
  return `${step}.fork`
}

/**
 * The step of a model call that the `contextFn` of a fork makes. The same question has the same key, whenever it is asked.
 *
 * @param step key of the step that opens the fork
 * @param inputHash of the question
 * @param nth how often it was asked before in the same run of the function
 */
export function contextKey(step: string, inputHash: string, nth: number): string {
  return `${step}.c${inputHash.slice(0, 12)}.${nth}`
}

/** The step with which a workflow tells the store a fact of its own. @param told its number, from 1 */
export function announcementKey(told: number): string {
  return `a${told}`
}

/** One event of an announcement, which may have several. @param index of the event, from 0 */
export function announcedKey(told: number, index: number): string {
  return `${announcementKey(told)}.${index}`
}

/**
 * The key of an event that a step tells, or that is looked up by its subject.
 *
 * @param of values that tell it from all other events of its type in the session
 * @example eventKey('tool.update', 't3.0.2', 'progress') // 'tool.update t3.0.2 progress'
 */
export function eventKey(type: string, ...of: readonly (string | number)[]): string {
  return [type, ...of].join(' ')
}

/** Identifies one question among all others, also among earlier ones about the same step. */
export interface PendingAt {
  /** The step that waits. */
  key: string
  gen: number
  /** The lease under which the step was parked. */
  lease: number
}

/** The id of a question to a person. @example pendingId({ key: 't3.0.2', gen: 0, lease: 1 }) // 't3.0.2@0.1' */
export function pendingId({ key, gen, lease }: PendingAt): string {
  return `${key}@${gen}.${lease}`
}

/** The step that tells people outside of a question, or of a pause. @param of id of the question, or key of the announcement */
export function noticeKey(of: string): string {
  return `n.${of}`
}

/**
 * The id of a notice for people outside, the same in every repetition.
 *
 * @param gen a generation counts its announcements anew
 * @param key of the step that tells it
 */
export function noticeId(sessionId: string, gen: number, key: string): string {
  return `${sessionId}:${gen}:${key}`
}

/** The question that the id belongs to; undefined if no question can have that id. */
export function readPendingId(id: string): PendingAt | undefined {
  const [, key, gen, lease] = PENDING.exec(id) ?? []
  return key === undefined ? undefined : { key, gen: Number(gen), lease: Number(lease) }
}

/**
 * Names one call for good, also for systems outside. The name is the same in every repetition. It is another one if a
 * rewind of Temporal makes the same step ask something else.
 */
export function idempotencyKey({ sessionId, key, inputHash }: AskingStep): string {
  return `${sessionId}:${key}:${inputHash.slice(0, 12)}`
}

/** The origin of a session that a call of its parent asked for. The same origin may ask for the same session again. */
export function callOrigin({ sessionId, key, inputHash }: AskingStep): string {
  return `${sessionId}/${key}/${inputHash}`
}

/** The origin of a session that a client asked for. @param what makes its requests different from each other */
export function clientOrigin(what: string): string {
  return `client/${what}`
}

const NOTIFYING = 'told'
const QUIET = 'quiet'

/**
 * The origin of an agent. @param notifies its parent gets a message when it has finished
 *
 * @example
 * const call = { sessionId: 's-root', key: agentKey('t3.0.2', 0), inputHash: 'ab12' }
 * agentOrigin(call, { notifies: true }) // 'agent/s-root/told/t3.0.2#0/ab12'
 */
export function agentOrigin({ sessionId, key, inputHash }: AskingStep, { notifies }: { notifies: boolean }): string {
  return `agent/${sessionId}/${notifies ? NOTIFYING : QUIET}/${key}/${inputHash}`
}

/** What the origin says of an agent of that parent; undefined if it is the origin of something else. */
export function readAgentOrigin(origin: string, parentId: string): { parentId: string; notifies?: true } | undefined {
  const begin = `agent/${parentId}/`
  if (!origin.startsWith(begin)) return undefined
  return { parentId, ...(origin.startsWith(`${begin}${NOTIFYING}/`) && { notifies: true as const }) }
}

/** The turn of the parent in which a call has asked for the session; undefined if no call has. */
export function readOriginTurn(origin: string): number | undefined {
  const key = origin.split('/').find((part) => ORIGIN_CALL.test(part))
  return key === undefined ? undefined : readCallKey(key.replace(ORIGIN_CALL, '$1'))?.turn
}

/** One of the agents that a call spawns. @param nth from 0 @example agentKey('t3.0.2', 0) // 't3.0.2#0' */
export function agentKey(call: string, nth: number): string {
  return `${call}#${nth}`
}

/** The message that an agent is sent by a call, or under a key of the sender's own. */
export function agentMessageId(from: string): string {
  return `agent-${from}`
}

/** The id under which a long answer of a person is stored beside the messages. It is no message. @param unique a UUID */
export function answerBodyId(unique: string): string {
  return `answer-${unique}`
}

/** The message that tells a parent about an ended turn of its agent. */
export function agentNewsId(at: { childId: string; childGen: number; childTurn: number }): string {
  return `agent ${at.childId} ${at.childGen}.${at.childTurn}`
}

/**
 * The id of the child that a call opens. The same call names the same child in every attempt and after every crash. Two
 * calls hardly ever get the same id by chance, but an attacker could make that happen. So the store compares the origins.
 *
 * @param names for `readableId`: the label that the call gives its child, the agent
 * @example
 * const call = { sessionId: 'tea-k7q2m4xw9dnf', key: 't3.0.2', inputHash: 'ab12' }
 * childId(call, ['Green tea']) // 'green-tea-' + 12 characters of a-z, 2-7
 */
export function childId({ sessionId, key, inputHash }: AskingStep, names: readonly string[]): string {
  return readableId(names, fnv1a(JSON.stringify([sessionId, key, inputHash])))
}

/**
 * The id of a session: words for people, and 60 bits that tell it from all others. Nothing reads it again: sessions may
 * have any other id.
 *
 * @param names the words are those of the first that has a Latin letter or a digit
 * @param unique 64 bits, of which the last 60 count
 */
export function readableId(names: readonly string[], unique: bigint): string {
  let bits = unique
  let end = ''
  for (let i = 0; i < 12; i++) {
    end += BASE32.charAt(Number(bits & 31n))
    bits >>= 5n
  }
  return `${names.map(slug).find(Boolean) ?? NAMELESS}-${end}`
}

/** A hash of 64 bits (FNV-1a). It does not withstand an attacker. */
export function fnv1a(text: string): bigint {
  let hash = FNV_OFFSET
  for (let i = 0; i < text.length; i++) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(i))) * FNV_PRIME)
  }
  return hash
}

/** The same functions in SQL. Each takes SQL expressions for texts or numbers, and returns an SQL expression. */
export const SQL = {
  modelKey(turn: string, round: string): string {
    return `'m' || ${turn} || '.' || ${round}`
  },
  openingKey(call: string): string {
    return `${call} || '${OPENING}'`
  },
  eventKey(type: string, of: string): string {
    return `'${type} ' || ${of}`
  },
  /** The model step of the round that a call belongs to. */
  askedBy(call: string): string {
    return `'m' || substring(${call} from '^t(\\d+\\.\\d+)\\.')`
  },
  /** The turn that a step belongs to, and its round; null if it belongs to none. */
  turnOf(step: string): string {
    return `substring(${step} from '^[mt](\\d+)\\.\\d')::int`
  },
  roundOf(step: string): string {
    return `substring(${step} from '^[mt]\\d+\\.(\\d+)')::int`
  },
  indexOf(call: string): string {
    return `split_part(${call}, '.', 3)`
  },
  /** Whether a call of the parent asked for the session with that origin. */
  isCallOrigin(origin: string, parentId: string): string {
    return `starts_with(${origin}, ${parentId} || '/')`
  },
  /** What the origin of each agent of the parent begins with. */
  agentOrigin(parentId: string): string {
    return `'agent/' || ${parentId} || '/'`
  },
  /** Whether it is the id of a long answer of a person, and of no message. */
  isAnswerBody(messageId: string): string {
    return `${messageId} ~ '^answer-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'`
  },
  /** The key of that call. */
  originCall(origin: string): string {
    return `split_part(${origin}, '/', 2)`
  },
  originHash(origin: string): string {
    return `split_part(${origin}, '/', 3)`
  },
}
