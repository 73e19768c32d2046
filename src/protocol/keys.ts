/**
 * The keys of steps and events, and the ids that are made of them: each is spelled and read here and nowhere else. A key
 * is unique within a session and generation. It says nothing beyond that: where an event belongs stands beside its key
 * (`EventPlace` in `events.ts`).
 */

/** A round of a turn. */
export interface RoundAt {
  turn: number
  round: number
}

/** A call of a round, by its index in the model's answer. */
export interface CallAt extends RoundAt {
  index: number
}

/** The step that opens a session, and prepares it where a client has forked it. */
export const OPEN_KEY = 'open'

/** Follows the key of a call whose child's answer is waited for, in the key of the step that opens the child. */
const OPENING = `.${OPEN_KEY}`
const CALL = /^t(\d{1,15})\.(\d{1,15})\.(\d{1,15})$/
const PENDING = /^(.+)@(\d{1,15})\.(\d{1,15})$/

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'
const FNV_OFFSET = 0xcbf29ce484222325n
const FNV_PRIME = 0x100000001b3n

/** The model step of a round. @example modelKey({ turn: 3, round: 0 }) // 'm3.0' */
export function modelKey({ turn, round }: RoundAt): string {
  return `m${turn}.${round}`
}

/** The step of a call. @example callKey({ turn: 3, round: 0, index: 2 }) // 't3.0.2' */
export function callKey({ turn, round, index }: CallAt): string {
  return `t${turn}.${round}.${index}`
}

/** Whose step it is; undefined when it is no call's. */
export function readCallKey(key: string): CallAt | undefined {
  const [, turn, round, index] = CALL.exec(key) ?? []
  return index === undefined ? undefined : { turn: Number(turn), round: Number(round), index: Number(index) }
}

/** The step that opens the child of a call, where the call waits for the child's answer. @param call key of the call */
export function openingKey(call: string): string {
  return `${call}${OPENING}`
}

/** The key of the call whose child that step opens; undefined when it opens none. */
export function readOpeningKey(key: string): string | undefined {
  return key.endsWith(OPENING) ? key.slice(0, -OPENING.length) : undefined
}

/** The step that tells user code of a fork. @param step key of the step that forked */
export function hookKey(step: string): string {
  return `${step}.fork`
}

/** The step by which a workflow tells the store something of its own. @param told its number, from 1 */
export function announcementKey(told: number): string {
  return `a${told}`
}

/** What an announcement tells, which may be several events. @param index of the event, from 0 */
export function announcedKey(told: number, index: number): string {
  return `${announcementKey(told)}.${index}`
}

/**
 * An event that a step tells, or that is looked up by what it is about.
 *
 * @param of what tells it from all events of its type in the session
 * @example eventKey('tool.update', 't3.0.2', 'progress') // 'tool.update t3.0.2 progress'
 */
export function eventKey(type: string, ...of: readonly (string | number)[]): string {
  return [type, ...of].join(' ')
}

/** What tells one question from all others, also from an earlier one about the same step. */
export interface PendingAt {
  /** Of the step that waits. */
  key: string
  gen: number
  /** Under which the step was parked. */
  lease: number
}

/** A question to a person. @example pendingId({ key: 't3.0.2', gen: 0, lease: 1 }) // 't3.0.2@0.1' */
export function pendingId({ key, gen, lease }: PendingAt): string {
  return `${key}@${gen}.${lease}`
}

/** What is asked; undefined when nothing can have that id. */
export function readPendingId(id: string): PendingAt | undefined {
  const [, key, gen, lease] = PENDING.exec(id) ?? []
  return key === undefined ? undefined : { key, gen: Number(gen), lease: Number(lease) }
}

/**
 * Names one call for good, also to the outside: the same in every repetition, another when a rewind of Temporal makes
 * the same step ask something else.
 *
 * @param inputHash of the step
 */
export function idempotencyKey(sessionId: string, key: string, inputHash: string): string {
  return `${sessionId}:${key}:${inputHash.slice(0, 12)}`
}

/**
 * What asked for a session: the same origin may ask again for the same session. This one is a call.
 *
 * @param parentId session id of the parent
 * @param key step key of the call
 * @param inputHash of the step: after a rewind the same key may ask for another child
 */
export function callOrigin(parentId: string, key: string, inputHash: string): string {
  return `${parentId}/${key}/${inputHash}`
}

/** A client asked for the session. @param what tells its requests apart */
export function clientOrigin(what: string): string {
  return `client/${what}`
}

/**
 * The id of the child that a call opens, `s-` and 12 characters: the same call names the same child, in every attempt and
 * after every crash. Safe against chance, not against an adversary: the store compares the origins.
 *
 * @example childId('s-root', 't3.0.2', 'ab12') // 's-' + 12 characters of a-z, 2-7
 */
export function childId(parentId: string, key: string, inputHash: string): string {
  let hash = fnv1a(JSON.stringify([parentId, key, inputHash]))
  let id = 's-'
  for (let i = 0; i < 12; i++) {
    id += BASE32.charAt(Number(hash & 31n))
    hash >>= 5n
  }
  return id
}

/** A fingerprint of 64 bits. */
export function fnv1a(text: string): bigint {
  let hash = FNV_OFFSET
  for (let i = 0; i < text.length; i++) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(i))) * FNV_PRIME)
  }
  return hash
}

/** The same in SQL. Each takes SQL that gives a text or a number, and gives SQL. */
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
  indexOf(call: string): string {
    return `split_part(${call}, '.', 3)`
  },
  /** Whether a call of the parent asked for a session of that origin. */
  isCallOrigin(origin: string, parentId: string): string {
    return `starts_with(${origin}, ${parentId} || '/')`
  },
  /** The key of that call. */
  originCall(origin: string): string {
    return `split_part(${origin}, '/', 2)`
  },
  originHash(origin: string): string {
    return `split_part(${origin}, '/', 3)`
  },
}
