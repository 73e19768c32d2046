/** What Temporal can find a session by. */
import type { SearchAttributePair, defineSearchAttributeKey } from '@temporalio/common'
import { shownValue, type SessionInput } from './session-input.ts'

type Keyword = ReturnType<typeof defineSearchAttributeKey<'KEYWORD'>>

const ROOT = keyword('StelloRoot')
const PARENT = keyword('StelloParent')
export const STATE: Keyword = keyword('StelloState')
const PROFILE = keyword('StelloProfile')
const LABEL = keyword('StelloLabel')

/** The names the worker registers. */
export const SEARCH_ATTRIBUTES: readonly string[] = [ROOT, PARENT, STATE, PROFILE, LABEL].map((key) => key.name)

export function attributesOf(input: SessionInput): SearchAttributePair[] {
  return [
    { key: ROOT, value: shownValue(input.rootId) },
    { key: STATE, value: 'idle' },
    { key: LABEL, value: shownValue(input.session.label) },
    ...(input.parentId === undefined ? [] : [{ key: PARENT, value: shownValue(input.parentId) }]),
    ...(input.profile === undefined ? [] : [{ key: PROFILE, value: shownValue(input.profile) }]),
  ]
}

/** As `defineSearchAttributeKey` makes it; this folder loads nothing of Temporal. */
function keyword(name: string): Keyword {
  return { name, type: 'KEYWORD' }
}
