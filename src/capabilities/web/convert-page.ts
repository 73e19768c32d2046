/**
 * Makes Markdown or plain text of a page: of its article, or of all of it when there is none. It runs in a thread: a page
 * is written by strangers, and may take for ever to read.
 */
import { createRequire } from 'node:module'
import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import TurndownService from 'turndown'

/** Tables, strikethrough and lists of tasks. The package has no types of its own. */
const { gfm } = createRequire(import.meta.url)('@joplin/turndown-plugin-gfm') as { gfm: TurndownService.Plugin }

export interface PageToConvert {
  html: string
  /** Where it was found: links in the result are whole URLs. */
  url: string
  format: 'markdown' | 'text'
}

export interface ConvertedPage {
  title: string
  text: string
}

/** An article shorter than this, in UTF-16 units, is not what the page is about. */
const SHORTEST_ARTICLE = 200
/** Elements in one another. The time to find an article grows with the cube of it: at 1000 it is half a minute. */
const DEEPEST = 256
const SELDOM_CLOSED =
  /^(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr|p|li|dt|dd|tr|td|th|thead|tbody|tfoot|option|optgroup|colgroup|html|head|body|path|circle|rect|line|polygon|polyline|ellipse|use|stop)$/i
const NEVER_SHOWN = 'title, script, style, noscript, template, iframe, object, svg, canvas, [hidden], img[src^="data:"]'

/** Called by the thread. */
export function run({ html, url, format }: PageToConvert): ConvertedPage {
  if (nesting(html) > DEEPEST) throw new Error('the page is nested too deeply')
  const { document } = parseHTML(/<html[\s>]/i.test(html) ? html : `<html><body>${html}</body></html>`)
  const title = (document.querySelector('title')?.textContent ?? '').trim()
  for (const element of document.querySelectorAll(NEVER_SHOWN)) element.remove()
  makeWhole(document.querySelectorAll('a[href]'), 'href', url)
  makeWhole(document.querySelectorAll('img[src]'), 'src', url)
  const body = String(document.body?.innerHTML ?? '')
  const whole = { content: body, textContent: String(document.body?.textContent ?? '') }
  // It changes the document, so what stands in it is read before.
  const article = new Readability(document).parse()
  const found = (article?.textContent ?? '').trim().length >= SHORTEST_ARTICLE ? article : undefined
  const text =
    format === 'markdown'
      ? inMarkdown(found?.content ?? whole.content)
      : withoutGaps(found?.textContent ?? whole.textContent)
  return { title: title || (article?.title ?? ''), text }
}

/** The depth of the tags, counted in the text. A tag that was never closed counts as open. */
function nesting(html: string): number {
  let [depth, deepest] = [0, 0]
  for (const [, closes, name = ''] of html.matchAll(/<(\/?)([a-z][\w-]*)/gi)) {
    if (SELDOM_CLOSED.test(name)) continue
    depth = Math.max(0, depth + (closes ? -1 : 1))
    deepest = Math.max(deepest, depth)
  }
  return deepest
}

interface Linked {
  getAttribute(name: string): string | null
  setAttribute(name: string, value: string): void
}

function makeWhole(elements: Iterable<Linked>, attribute: string, base: string): void {
  for (const element of elements) {
    const given = element.getAttribute(attribute) ?? ''
    if (URL.canParse(given, base)) element.setAttribute(attribute, new URL(given, base).href)
  }
}

function inMarkdown(html: string): string {
  const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' })
  turndown.use(gfm)
  return turndown.turndown(html)
}

function withoutGaps(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}
