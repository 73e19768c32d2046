/** The options of what only reads: pages of roots and of records, searches. They often come from outside, as JSON or as a query. */
import type { RecordRange } from '../store/transcript/record-pages.ts'
import type { RootFilter } from '../store/sessions/roots.ts'
import type { SearchOptions } from '../store/transcript/search.ts'
import { StelloError } from '../core/errors.ts'
import { sessionIdProblem } from '../core/path-part.ts'
import { SESSION_STATUSES } from '../protocol/views.ts'
import { checked, name, type Check, type Checks } from './options.ts'

/** Most roots of a page, and most records. */
const MOST = 1000
const MOST_HITS = 100
/** Longest question of a search, in UTF-16 units. */
const QUESTION_LIMIT = 1000

const upTo =
  (most: number): Check =>
  (value) =>
    Number.isInteger(value) && Number(value) >= 1 && Number(value) <= most
      ? undefined
      : `must be a whole number from 1 to ${most}`
const place: Check = (value) => (Number.isSafeInteger(value) ? undefined : 'must be a whole number')
const state: Check = (value) =>
  SESSION_STATUSES.some((known) => known === value) ? undefined : `must be one of ${SESSION_STATUSES.join(', ')}`
const moment: Check = (value) =>
  value instanceof Date && !Number.isNaN(value.getTime()) ? undefined : 'must be a Date'

const ROOTS: Checks<RootFilter> = { agent: name, state, before: moment, limit: upTo(MOST) }
const SEARCH: Checks<SearchOptions> = { sessionId: sessionIdProblem, limit: upTo(MOST_HITS) }
const RANGE: Checks<RecordRange> = { from: place, limit: upTo(MOST) }

/** @throws StelloError INVALID_ARGUMENT naming the field, and those there are */
export function checkRoots(given: RootFilter = {}): RootFilter {
  return checked('roots', given, { checks: ROOTS })
}

/** @throws StelloError INVALID_ARGUMENT naming the field, and those there are */
export function checkSearch(text: string, given: SearchOptions = {}): SearchOptions {
  if (typeof text === 'string' && text.length <= QUESTION_LIMIT) return checked('search', given, { checks: SEARCH })
  const wrong = typeof text === 'string' ? `has ${text.length} characters, more than ${QUESTION_LIMIT}` : 'must be text'
  throw new StelloError('INVALID_ARGUMENT', `search: what is looked for ${wrong}`, { hint: 'look for a few words' })
}

/** @throws StelloError INVALID_ARGUMENT naming the field, and those there are */
export function checkRange(given: RecordRange = {}): RecordRange {
  return checked('records', given, { checks: RANGE })
}
