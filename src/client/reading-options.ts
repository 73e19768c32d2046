/** The options of what only reads: pages of roots and of records. They often come from outside, as JSON or as a query. */
import type { RecordRange } from '../store/record-pages.ts'
import type { RootFilter } from '../store/roots.ts'
import { SESSION_STATUSES } from '../protocol/views.ts'
import { checked, name, type Check, type Checks } from './options.ts'

/** Most roots of a page, and most records. */
const MOST = 1000

const count: Check = (value) =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MOST
    ? undefined
    : `must be a whole number from 1 to ${MOST}`
const place: Check = (value) => (Number.isSafeInteger(value) ? undefined : 'must be a whole number')
const state: Check = (value) =>
  SESSION_STATUSES.some((known) => known === value) ? undefined : `must be one of ${SESSION_STATUSES.join(', ')}`
const moment: Check = (value) =>
  value instanceof Date && !Number.isNaN(value.getTime()) ? undefined : 'must be a Date'

const ROOTS: Checks<RootFilter> = { agent: name, state, before: moment, limit: count }
const RANGE: Checks<RecordRange> = { from: place, limit: count }

/** @throws StelloError INVALID_ARGUMENT naming the field, and those there are */
export function checkRoots(given: RootFilter = {}): RootFilter {
  return checked('roots', given, ROOTS)
}

/** @throws StelloError INVALID_ARGUMENT naming the field, and those there are */
export function checkRange(given: RecordRange = {}): RecordRange {
  return checked('records', given, RANGE)
}
