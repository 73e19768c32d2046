/** What a model reads of an answer: a page as Markdown or text, other text as it is. */
import { inThread, ThreadEnded } from '../thread/in-thread.ts'
import type { ConvertedPage, PageToConvert } from './convert-page.ts'

const TIMEOUT_MS = 20_000

/** A page that cannot be converted; the message says why. */
export class Unreadable extends Error {}

/** @throws Unreadable when the page takes too long, or cannot be converted at all; the signal's reason */
export async function pageText(page: PageToConvert, signal: AbortSignal): Promise<ConvertedPage> {
  try {
    return await inThread<ConvertedPage>(new URL('./convert-page.ts', import.meta.url), page, {
      timeoutMs: TIMEOUT_MS,
      signal,
    })
  } catch (error) {
    signal.throwIfAborted()
    const why = error instanceof ThreadEnded ? `it takes too much ${error.why}` : 'it is nested too deeply, or broken'
    throw new Unreadable(`The page cannot be converted: ${why}. Ask for the format html.`)
  }
}
