/** Turns any value from a tool into a value for people: always JSON, never over the limit, without known secrets. */
import { messageOf } from '../../core/errors.ts'
import { preview } from '../../core/message.ts'
import { withoutKnownIn } from '../../core/secrets.ts'
import { toJson } from '../../core/to-json.ts'

/** Longest text inside a value that is too long, in UTF-16 units. */
const TEXT_SHOWN = 500

/**
 * Cuts the long texts inside a value that is over the limit. If that is not enough, a note replaces the whole value.
 *
 * @param limit longest JSON text, in UTF-16 units
 */
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
