/** The text of an answer, in the form that a reader wants. */
import { decodeText } from './decode-text.ts'
import { pageText, Unreadable } from './page-text.ts'
import type { Answer } from '../network/guarded-request.ts'
import { NetworkRefusal } from '../network/network-refusal.ts'

/** `markdown` and `text` are of the article of a page; `html`, and what is no page, stays as it is. */
export const FORMATS = ['markdown', 'text', 'html'] as const
export type Format = (typeof FORMATS)[number]

const TEXT_TYPE = /^(?:text\/|application\/(?:[\w.+-]+\+)?(?:json|xml|yaml|javascript)\b)/

/** @throws NetworkRefusal when the answer is no text, or a page that cannot be converted; the signal's reason */
export async function pageContent(answer: Answer, format: Format, signal: AbortSignal): Promise<string> {
  const { url, body } = answer
  const type = typeOf(answer)
  if (!TEXT_TYPE.test(type)) {
    throw new NetworkRefusal('network_error', `${url.href} is no text but ${type.slice(0, 100)}, which cannot be read.`)
  }
  const text = decodeText(body, type)
  if (format === 'html' || !/html/.test(type)) return text
  try {
    const page = await pageText({ html: text, url: url.href, format }, signal)
    return page.title === '' || page.text.startsWith('# ') ? page.text : `# ${page.title}\n\n${page.text}`
  } catch (error) {
    if (error instanceof Unreadable) throw new NetworkRefusal('network_error', error.message)
    throw error
  }
}

/** A server that names no type is taken at its bytes. */
function typeOf({ headers, body }: Answer): string {
  const named = headers['content-type']?.toLowerCase()
  if (named) return named
  if (body.includes(0)) return 'application/octet-stream'
  return body.subarray(0, 100).toString().trimStart().startsWith('<') ? 'text/html' : 'text/plain'
}
