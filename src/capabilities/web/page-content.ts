/** The text of an answer, in the form that a reader wants. */
import type { Answer } from '../network/guarded-request.ts'
import { NetworkRefusal } from '../network/network-refusal.ts'
import { inThread, ThreadEnded } from '../thread/in-thread.ts'
import type { ConvertedPage, PageToConvert } from './convert-page.ts'

/** `markdown` and `text` are of the article of a page; `html`, and what is no page, stays as it is. */
export const FORMATS = ['markdown', 'text', 'html'] as const
export type Format = (typeof FORMATS)[number]

const TEXT_TYPE = /^(?:text\/|application\/(?:[\w.+-]+\+)?(?:json|xml|yaml|javascript)\b)/
const IN_META = /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]{1,40})/i
/** How far into a page a statement of its character set is searched, in bytes. */
const HEAD = 4096
const UTF_8 = 'utf-8'
/** The longest time that the conversion of a page takes. */
const TIMEOUT_MS = 20_000

/** @throws NetworkRefusal when the answer is no text, or a page that cannot be converted; the signal's reason */
export async function pageContent(answer: Answer, format: Format, signal: AbortSignal): Promise<string> {
  const { url, body } = answer
  const type = typeOf(answer)
  if (!TEXT_TYPE.test(type)) {
    throw new NetworkRefusal('network_error', `${url.href} is no text but ${type.slice(0, 100)}, which cannot be read.`)
  }
  const text = decodeText(body, type)
  if (format === 'html' || !/html/.test(type)) return text
  const page = await pageText({ html: text, url: url.href, format }, signal)
  return page.title === '' || page.text.startsWith('# ') ? page.text : `# ${page.title}\n\n${page.text}`
}

/** A server that names no type is taken at its bytes. */
function typeOf({ headers, body }: Answer): string {
  const named = headers['content-type']?.toLowerCase()
  if (named) return named
  if (body.includes(0)) return 'application/octet-stream'
  return body.subarray(0, 100).toString().trimStart().startsWith('<') ? 'text/html' : 'text/plain'
}

/** Decoded by the character set that the answer names. @param contentType the header */
function decodeText(bytes: Uint8Array, contentType: string): string {
  const named = /charset\s*=\s*"?([\w-]{1,40})/i.exec(contentType)?.[1]
  const label = named ?? IN_META.exec(Buffer.from(bytes.subarray(0, HEAD)).toString('latin1'))?.[1]
  return decoded(bytes, markedEncoding(bytes) ?? label ?? UTF_8)
}

/** A mark of byte order says more than any header. */
function markedEncoding([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}

function decoded(bytes: Uint8Array, label: string): string {
  try {
    return new TextDecoder(label).decode(bytes)
  } catch {
    return new TextDecoder(UTF_8).decode(bytes)
  }
}

/** @throws NetworkRefusal when the page takes too long, or cannot be converted at all; the signal's reason */
async function pageText(page: PageToConvert, signal: AbortSignal): Promise<ConvertedPage> {
  try {
    return await inThread<ConvertedPage>(new URL('./convert-page.ts', import.meta.url), page, {
      timeoutMs: TIMEOUT_MS,
      signal,
    })
  } catch (error) {
    signal.throwIfAborted()
    const why = error instanceof ThreadEnded ? `it takes too much ${error.why}` : 'it is nested too deeply, or broken'
    throw new NetworkRefusal('network_error', `The page cannot be converted: ${why}. Ask for the format html.`)
  }
}
