/**
 * What stands around the JSON of a call: code fences, and the marks that open models are trained to write there
 * (Hermes, Qwen, Llama, Mistral, Granite). The reader of whole replies and the reader of streams both use this file, so
 * they agree on where a call begins.
 */

const NAME = '[^\\s<>{}[\\]"\'`=,]{1,64}'
const TAG = '<tool_call>|<\\|tool_call\\|>|<\\|python_tag\\|>|\\[TOOL_CALLS\\]'
const FENCE = '```\\w*\\s*|`'
/** Everything that may stand directly before the JSON of a call. */
const OPENING = new RegExp(
  `(?<fence>${FENCE})?(?:(?<tag>(?:(?:${TAG})\\s*)?(?:<function=(?<name>${NAME})>\\s*)?)|` +
    `\\[TOOL_CALLS\\]\\s*(?<other>${NAME})(?:\\[ARGS\\])?\\s*)(?:\\[\\s*)?$`,
)
/** The beginning of an opening that is not whole yet. */
const PARTIAL = new RegExp(`(?:${FENCE})?(?:<[^\\s<>{]{0,80}|\\[[A-Z_]{0,11}\\s*|\`{1,3}\\w*)$`)
/** How many characters before a place are searched: more than any opening has. Space beyond them does not count. */
export const OPENING_LIMIT = 256

/** A text that holds nothing but ends of code blocks and of the reply. */
export const NOTHING_MORE: RegExp = /^(?:\s|```|<\|(?:eot_id|eom_id|im_end|end)\|>|<\/s>)*$/
/** What stands between the calls of a list and behind it. */
export const LIST_GLUE: RegExp = new RegExp(
  `^(?:\\s|\`\`\`|[,;\\]\\[]|</tool_call>|</function>|${TAG}|<function=${NAME}>|<\\|(?:eot_id|eom_id|im_end|end)\\|>|</s>)*$`,
)
/**
 * The beginning of what others say. A model that does not stop after its call may write this too: a result, or the next
 * message of the conversation.
 */
export const OTHERS_SPEAK: RegExp =
  /<tool_response>|\[TOOL_RESULTS\]|<\|(?:im_start|start_header_id)\|>|(?:^|\n)tool (?:output|error):/

export interface Opening {
  /** Where it begins: the prose ends here. */
  proseEnd: number
  /** Where it begins without its fence. */
  at: number
  /** It has a fence of three backticks. */
  fenced: boolean
  /** It has a fence of any kind. */
  quoted: boolean
  /** It holds a mark that nobody writes by chance. */
  marked: boolean
  /** The tool, if the mark names it. */
  name?: string
}

/** Reads what stands directly before `end`. @param text its last characters are enough */
export function openingBefore(text: string, end: number): Opening {
  const from = Math.max(0, end - OPENING_LIMIT)
  const match = OPENING.exec(text.slice(from, end))
  const [whole = ''] = match ?? []
  const { fence = '', tag = '', name: called, other } = match?.groups ?? {}
  const name = called ?? other
  return {
    proseEnd: end - whole.length,
    at: end - whole.length + fence.length,
    fenced: fence.startsWith('```'),
    quoted: fence !== '',
    marked: tag !== '' || name !== undefined,
    ...(name !== undefined && { name }),
  }
}

/** Where an opening may begin that is not whole yet; the end of the text if there is none. */
export function mayOpen(text: string): number {
  const window = text.slice(-OPENING_LIMIT)
  const from = text.length - window.length
  const part = PARTIAL.exec(window)
  return openingBefore(window.slice(0, part?.index), part?.index ?? window.length).proseEnd + from
}
