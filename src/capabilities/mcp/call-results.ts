/** What a server answered, as a tool result: text and pictures for the model, structured data for people too. */
import type {
  CallToolResult,
  ContentBlock,
  GetPromptResult,
  ReadResourceResult,
} from '@modelcontextprotocol/sdk/types.js'
import type { Part } from '../../core/message.ts'
import type { CallToolResult as ToolResult } from '../../tool/tool.ts'

/** What every provider takes. */
const PICTURES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
/** Longest picture, in characters of base64: providers refuse longer ones, and with them the whole conversation. */
const PICTURE_LIMIT = 5 * 1024 * 1024

export function toToolResult({ content, structuredContent, isError }: CallToolResult): ToolResult {
  const parts = content.map(toPart)
  // A server should send the same data as text too. If it does not, the model would otherwise read nothing.
  const bare = parts.length === 0 && structuredContent !== undefined
  return {
    content: bare ? [text(JSON.stringify(structuredContent))] : parts,
    ...(isError && { isError }),
    ...(structuredContent !== undefined && { details: { structuredContent } }),
  }
}

export function fromResource({ contents }: ReadResourceResult): ToolResult {
  return { content: contents.length === 0 ? [text('The resource is empty.')] : contents.map(toContents) }
}

/** Speakers are named only if others than the user speak. */
export function fromPrompt({ messages }: GetPromptResult): ToolResult {
  const told = messages.some(({ role }) => role !== 'user')
  return { content: messages.flatMap(({ role, content }) => [...(told ? [text(`${role}:`)] : []), toPart(content)]) }
}

function toPart(block: ContentBlock): Part {
  switch (block.type) {
    case 'text':
      return text(block.text)
    case 'image':
      return binary('image', block.data, block.mimeType)
    case 'audio':
      return binary('audio', block.data, block.mimeType)
    case 'resource':
      return toContents(block.resource)
    case 'resource_link':
      return text(`[resource ${block.uri}${kindOf(block.mimeType)}] ${block.description ?? block.title ?? block.name}`)
  }
}

function toContents(resource: ReadResourceResult['contents'][number]): Part {
  const { uri, mimeType } = resource
  if ('text' in resource) return text(`[resource ${uri}${kindOf(mimeType)}]\n${resource.text}`)
  return binary(`resource ${uri}`, resource.blob, mimeType)
}

/** Content that no model can read is named instead. */
function binary(what: string, data: string, mimeType: string | undefined): Part {
  if (mimeType !== undefined && PICTURES.includes(mimeType) && data.length <= PICTURE_LIMIT)
    return { type: 'image', data, mimeType }
  return text(`[${what}${kindOf(mimeType)}, ${Math.floor((data.length * 3) / 4)} bytes: it cannot be shown here]`)
}

function kindOf(mimeType: string | undefined): string {
  return mimeType === undefined ? '' : `, ${mimeType}`
}

function text(content: string): Part {
  return { type: 'text', text: content }
}
