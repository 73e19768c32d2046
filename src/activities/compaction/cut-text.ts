/** The text in place of messages that could not be summarised: a line that says so, and the user's messages. */
import { preview, type Message } from '../../core/message.ts'

/** How many of the user's messages are named, the first and the last ones, and how much of each. */
const NAMED = 10
const SHOWN = 300
/** Longest text, in UTF-16 units: it grows with each time. */
const LIMIT = 16_000

/** @param before the summary of everything before the messages */
export function cutText(messages: readonly Message[], before?: string): string {
  const said = messages.filter(({ role }) => role === 'user').map(({ content }) => `- ${preview(content, SHOWN)}`)
  const named = said.length <= NAMED ? said : [...said.slice(0, NAMED / 2), '- …', ...said.slice(-NAMED / 2)]
  const left = `${messages.length} messages that followed are left out here. They could not be summarised.`
  const asked = named.length > 0 ? `${left} The user wrote in them:` : left
  const text = [...(before === undefined ? [] : [before]), [asked, ...named].join('\n')].join('\n\n')
  return text.length <= LIMIT ? text : `${preview(text, LIMIT / 2)}\n\n${text.slice(-LIMIT / 2)}`
}
