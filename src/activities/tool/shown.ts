/** What people are shown of anything a tool hands over: always JSON, never more than the limit, without known secrets. */
import { messageOf } from '../../core/errors.ts'
import { preview } from '../../core/message.ts'
import { withoutKnownIn } from '../../core/secrets.ts'
import { toJson } from '../../core/to-json.ts'

/** Of a text inside something too long, in UTF-16 units. */
const TEXT_SHOWN = 500

/** @param limit of its JSON text, in UTF-16 units: then long texts inside are cut, and if that is not enough a note replaces all */
export function shown(value: unknown, limit: number): unknown {
  try {
    const told = withoutKnownIn(JSON.parse(toJson(value ?? null)) as unknown)
    const text = JSON.stringify(told)
    if (text.length <= limit) return told
    const cut = JSON.stringify(told, (_key, field: unknown) =>
      typeof field === 'string' ? preview(field, TEXT_SHOWN) : field,
    )
    return cut.length <= limit ? (JSON.parse(cut) as unknown) : `(${text.length} characters left out)`
  } catch (error) {
    return `not JSON: ${preview(messageOf(error), TEXT_SHOWN)}`
  }
}
