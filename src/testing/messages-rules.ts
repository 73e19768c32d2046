/** The rules for which Anthropic's Messages API refuses a request, as they are documented or reported. */
import { isObject } from '../core/is-object.ts'
import { Refusal } from './fake-protocol.ts'
import { blocksOf, type MessagesBlock, type MessagesRequest, type MessagesTurn } from './messages-request.ts'
import { checkThinking, isThinking, nameCalls, promptBefore, thinkingOf, versionOf } from './thinking-seal.ts'

const ID = /^[a-zA-Z0-9_-]+$/
const NAME = /^[a-zA-Z0-9_-]{1,128}$/
const IMAGES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp']
const MOST_CACHE_POINTS = 4
const LEAST_BUDGET = 1024
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  user: ['text', 'image', 'tool_result'],
  assistant: ['text', 'tool_use', 'thinking', 'redacted_thinking'],
}

/** @throws Refusal naming the place and the rule, as Anthropic does */
export function checkMessages(body: MessagesRequest): void {
  const { model, max_tokens: most, messages, system, tools = [] } = body
  if (typeof model !== 'string' || model === '') refuse('model: Field required')
  if (!Number.isInteger(most) || most < 1) refuse('max_tokens: Field required')
  if (!Array.isArray(messages) || messages.length === 0) refuse('messages: at least one message is required')
  checkSettings(body)
  if (system !== undefined) checkTexts('system', blocksOf(system))
  for (const [i, tool] of tools.entries()) {
    if (!NAME.test(tool.name)) refuse(`tools.${i}.name: String should match pattern '${NAME.source}'`)
    if (tool.input_schema?.['type'] !== 'object') refuse(`tools.${i}.input_schema.type: Input should be 'object'`)
  }
  if (new Set(tools.map(({ name }) => name)).size < tools.length) refuse('tools: Tool names must be unique.')
  const ids = new Set<string>()
  for (const [i, turn] of messages.entries()) {
    const role = i % 2 === 0 ? 'user' : 'assistant'
    if (turn.role !== role) refuse(`messages.${i}: roles must alternate between "user" and "assistant"`)
    checkTurn(`messages.${i}`, turn)
    checkCalls(`messages.${i}`, { turn, next: messages[i + 1] }, ids)
    checkResults(`messages.${i}`, turn, messages[i - 1])
    checkSeals(body, i)
  }
  if (messages.at(-1)?.role !== 'user') refuse('This model does not support assistant message prefill.')
  const called = messages.some(({ content }) => blocksOf(content).some(({ type }) => type.startsWith('tool_')))
  if (called && tools.length === 0)
    refuse('Requests which include `tool_use` or `tool_result` blocks must define tools.')
  const points = JSON.stringify(body).split('"cache_control":').length - 1
  if (points > MOST_CACHE_POINTS) refuse(`A maximum of 4 blocks with cache_control may be provided. Found ${points}.`)
}

function checkSettings({ model, max_tokens: most, thinking, temperature, messages }: MessagesRequest): void {
  const version = versionOf(model)
  const on = thinking?.type === 'enabled' || thinking?.type === 'adaptive'
  if (temperature !== undefined && version >= 4.7) refuse('temperature: this model does not support it')
  if (on && temperature !== undefined && temperature !== 1) refuse('`temperature` may only be set to 1 with thinking.')
  if (thinking?.type === 'adaptive' && version < 4.6) refuse('adaptive thinking is not supported on this model')
  if (thinking?.type !== 'enabled') return
  if (version >= 4.7) refuse('"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive".')
  const { budget_tokens: budget = 0 } = thinking
  if (budget < LEAST_BUDGET) refuse('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024')
  if (budget >= most) refuse('`max_tokens` must be greater than `thinking.budget_tokens`.')
  if (!isAnswering(messages.at(-1))) return
  const begin = messages.findLastIndex((turn) => turn.role === 'user' && !isAnswering(turn))
  const [first] = blocksOf(messages[begin + 1]?.content)
  if (first && !isThinking(first)) {
    refuse(
      `messages.${begin + 1}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first.type}\`.`,
    )
  }
}

function checkTurn(at: string, { role, content }: MessagesTurn): void {
  const blocks = blocksOf(content)
  if (blocks.length === 0) refuse(`${at}: content must not be empty`)
  for (const [i, block] of blocks.entries()) {
    if (!ALLOWED[role]?.includes(block.type)) refuse(`${at}.content.${i}: \`${block.type}\` is not allowed for ${role}`)
    if (isThinking(block) && block.cache_control)
      refuse(`${at}.content.${i}.cache_control: Extra inputs are not permitted`)
  }
  checkTexts(at, blocks)
}

function checkTexts(at: string, blocks: readonly MessagesBlock[]): void {
  for (const [i, { type, text, source }] of blocks.entries()) {
    if (type === 'text' && !text?.trim())
      refuse(`${at}.content.${i}: text content blocks must contain non-whitespace text`)
    if (type !== 'image') continue
    if (!source?.data || !IMAGES.includes(source.media_type ?? ''))
      refuse(`${at}.content.${i}.source: Input should be an image`)
  }
}

function checkCalls(
  at: string,
  { turn, next }: { turn: MessagesTurn; next: MessagesTurn | undefined },
  ids: Set<string>,
): void {
  const calls = blocksOf(turn.content).filter(({ type }) => type === 'tool_use')
  for (const { id = '', name = '', input } of calls) {
    if (!ID.test(id)) refuse(`${at}.tool_use.id: String should match pattern '${ID.source}'`)
    if (ids.has(id)) refuse(`${at}: \`tool_use\` ids must be unique`)
    ids.add(id)
    if (!NAME.test(name)) refuse(`${at}.tool_use.name: String should match pattern '${NAME.source}'`)
    if (!isObject(input)) refuse(`${at}.tool_use.input: Input should be a valid dictionary`)
  }
  if (calls.length === 0) return
  const first = blocksOf(next?.content).slice(0, calls.length)
  const answered = new Set(first.map(({ tool_use_id: id }) => id))
  const open = calls.filter(({ id }) => !answered.has(id)).map(({ id }) => id)
  if (open.length > 0)
    refuse(`${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}.`)
}

function checkResults(at: string, turn: MessagesTurn, before: MessagesTurn | undefined): void {
  const calls = blocksOf(before?.content).flatMap(({ type, id = '' }) => (type === 'tool_use' ? [id] : []))
  const results = blocksOf(turn.content).filter(({ type }) => type === 'tool_result')
  for (const { tool_use_id: id = '', content, is_error: isError } of results) {
    const place = calls.indexOf(id)
    if (place === -1) refuse(`${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}`)
    calls.splice(place, 1)
    const blocks = blocksOf(content)
    if (isError && blocks.length === 0) refuse(`${at}: content cannot be empty if \`is_error\` is true`)
    if (typeof content !== 'string') checkTexts(at, blocks)
  }
}

function checkSeals(body: MessagesRequest, i: number): void {
  if (body.thinking?.type === 'disabled') return
  const blocks = blocksOf(body.messages[i]?.content).filter(isThinking)
  for (const [place, block] of blocks.entries()) {
    const seal = checkThinking(block, promptBefore(body, i))
    const where = `messages.${i}.content.${place}: Invalid \`signature\` in \`thinking\` block.`
    if (seal === 'forged') refuse(where)
    if (seal === 'moved' && versionOf(body.model) >= 5.1)
      refuse(`${where} The block is bound to a different conversation.`)
  }
}

/**
 * While calls are being answered, the thinking in front of them must be there.
 *
 * @param thought the thinking that was given out with calls, by its prompt and these calls
 * @throws Refusal
 */
export function checkThoughts(body: MessagesRequest, thought: ReadonlyMap<string, ReadonlySet<string>>): void {
  const { messages } = body
  const begin = messages.findLastIndex((turn) => turn.role === 'user' && !isAnswering(turn))
  for (let i = begin + 1; i < messages.length; i += 2) {
    const turn = messages[i]
    const calls = blocksOf(turn?.content).filter(({ type }) => type === 'tool_use')
    const given = thought.get(promptBefore(body, i) + nameCalls(calls))
    if (!given || !turn || thinkingOf(turn).some((each) => given.has(each))) continue
    refuse(`messages.${i}: \`thinking\` blocks in the latest assistant message cannot be modified.`)
  }
}

/** Whether a turn brings nothing but results. */
function isAnswering(turn: MessagesTurn | undefined): boolean {
  return turn !== undefined && blocksOf(turn.content).every(({ type }) => type === 'tool_result')
}

function refuse(message: string): never {
  throw new Refusal(message)
}
