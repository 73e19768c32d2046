/** Turns our messages into a prompt of the AI SDK. Pure. */
import { legalTranscript } from '../../core/legal-transcript.ts'
import type { ImagePart, Message } from '../../core/message.ts'
import type { PromptHash } from '../prompt-hash.ts'
import { toAssistantParts } from './ai-sdk-record.ts'
import type { FilePart, PromptMessage, TextPart } from './language-model.ts'

/** Some providers want a user's message at the beginning and at the end. */
const GO_ON: PromptMessage = { role: 'user', content: [{ type: 'text', text: 'Go on.' }] }

/**
 * @param key the key under which records keep what the provider wants back
 * @param bound hashes the prompt before an answer, if the model binds its reasoning to the prompt
 */
export function toPrompt(
  messages: readonly Message[],
  { key, version, bound }: { key: string; version: string; bound: PromptHash | undefined },
): PromptMessage[] {
  const prompt: PromptMessage[] = []
  let shown: (TextPart | FilePart)[] = []
  let talking = false
  // Not every provider takes images in results, and nothing may come between the results of one answer.
  const showImages = (): void => {
    if (shown.length > 0) prompt.push({ role: 'user', content: shown })
    shown = []
  }
  for (const { message } of legalTranscript(messages)) {
    if (message.role !== 'tool') showImages()
    const images = imagesOf(message, version)
    switch (message.role) {
      case 'system':
        prompt.push(talking ? userSays(message.content) : { role: 'system', content: message.content })
        break
      case 'user':
        prompt.push({ role: 'user', content: [...textOf(message.content), ...images] })
        break
      case 'assistant':
        // If the model binds its reasoning to the prompt, two answers in a row must not become one: the reasoning of
        // the second one was written for another prompt and would be lost.
        if (!talking || (bound && prompt.at(-1)?.role === 'assistant')) prompt.push(GO_ON)
        prompt.push({ role: 'assistant', content: toAssistantParts(key, message, bound && (() => bound.hash(prompt))) })
        break
      case 'tool':
        addResult(prompt, message)
        if (images.length > 0) shown.push(...textOf(`What ${message.name ?? 'the tool'} returned:`), ...images)
        break
    }
    talking ||= message.role !== 'system'
  }
  showImages()
  return prompt.at(-1)?.role === 'assistant' || !talking ? [...prompt, GO_ON] : prompt
}

/** Adds a result. All results of one answer stand in one message. */
function addResult(prompt: PromptMessage[], { toolCallId = '', name = '', content, isError }: Message): void {
  const type = isError ? ('error-text' as const) : ('text' as const)
  const part = { type: 'tool-result' as const, toolCallId, toolName: name, output: { type, value: content } }
  const last = prompt.at(-1)
  if (last?.role === 'tool') last.content.push(part)
  else prompt.push({ role: 'tool', content: [part] })
}

function userSays(text: string): PromptMessage {
  return { role: 'user', content: textOf(text) }
}

function textOf(text: string): TextPart[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }]
}

function imagesOf({ parts = [] }: Message, version: string): FilePart[] {
  return parts
    .filter((part): part is ImagePart => part.type === 'image')
    .map(({ data, mimeType }) => ({
      type: 'file',
      mediaType: mimeType,
      data: version === 'v2' || version === 'v3' ? data : { type: 'data', data },
    }))
}
