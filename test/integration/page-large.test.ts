/** Much of everything in the page: thousands of records, hundreds of sessions. What is not seen is not in the document. */
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import type { Message } from '../../src/core/message.ts'
import { serveHttp, type HttpServer } from '../../src/http/serve-http.ts'
import { builtPage } from '../support/built-page.ts'
import { usePageBrowser } from '../support/page-browser.ts'
import { useStello } from '../support/session-fixture.ts'
import { newId, newSessionRow, openSession, write } from '../store/fixtures.ts'

const stello = useStello()
const browser = usePageBrowser()
let servers: HttpServer[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()))
})

async function site(): Promise<string> {
  const server = await serveHttp({ stello: stello.client, page: await builtPage() })
  servers = [...servers, server]
  return server.url
}

const RECORDS = 5000
/** Few beside the 5,000 there are: those on the screen, and some above and below. */
const FEW = 100

let long: Promise<string> | undefined
/** A session of 5,000 records, made once, written 500 at a time. Record 2,500 alone says `needle`. */
function longSession(): Promise<string> {
  return (long ??= writeLongSession())
}

async function writeLongSession(): Promise<string> {
  const run = await openSession(stello.db)
  for (let from = 1; from <= RECORDS; from += 500) {
    const messages = Array.from({ length: 500 }, (_, index): Message => {
      const seq = from + index
      const more = seq % 7 === 0 ? `\n\n- ${'a longer line of the list '.repeat(seq % 40)}` : ''
      const content = `This is record ${seq}.${seq === 2500 ? ' A needle.' : ''}${more}`
      return { role: seq % 2 === 1 ? 'user' : 'assistant', content }
    })
    await write(stello.db, run, `m1.${from}`, from, messages)
  }
  return run.sessionId
}

const shown = (page: Page): Promise<number[]> =>
  page
    .locator('.transcript-row .seq')
    .evaluateAll((all) => all.map(({ textContent }) => Number(textContent.replace('#', ''))).toSorted((a, b) => a - b))
/** Scrolls to the beginning, less than a screen at a time. @returns the records that were in the document, and most at once */
const scrollUp = (page: Page): Promise<{ seen: number[]; most: number }> =>
  page.evaluate(`(async () => {
    const log = document.querySelector('[role=log]')
    const seen = new Set()
    let most = 0
    const look = () => {
      const all = [...document.querySelectorAll('.transcript-row .seq')]
      most = Math.max(most, all.length)
      for (const { textContent } of all) seen.add(Number(textContent.replace('#', '')))
    }
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
    for (look(); log.scrollTop > 0; look()) {
      log.scrollTop -= log.clientHeight * 0.8
      await frame()
      await frame()
    }
    return { seen: [...seen].toSorted((a, b) => a - b), most }
  })()`)
const log = (page: Page) => page.getByRole('log', { name: 'Transcript' })

describe('a session of 5,000 records', () => {
  it('is scrolled from its end to its beginning and back without a gap, with few rows in the document', async () => {
    const id = await longSession()
    const viewport = { width: 1200, height: 4000 }
    const { page, errors } = await browser.open(`${await site()}/#/s/${id}`, { viewport })
    await expect.poll(async () => (await shown(page)).at(-1)).toBe(RECORDS)
    const { seen, most } = await scrollUp(page)
    expect(seen).toEqual(Array.from({ length: RECORDS }, (_, index) => index + 1))
    expect(most).toBeLessThan(FEW)
    await page.getByRole('button', { name: 'to the end' }).click()
    await expect.poll(async () => (await shown(page)).at(-1)).toBe(RECORDS)
    expect(errors).toEqual([])
  })

  it('is opened by a search at the record that was found', async () => {
    const id = await longSession()
    const { page } = await browser.open(`${await site()}/#/search?q=needle`)
    await page.locator(`a.hit[href*="${id}"]`).click()
    const found = page.locator('.transcript-row.found')
    await expect.poll(() => found.textContent()).toContain('This is record 2500.')
    const isOnScreen = async (): Promise<boolean> => {
      const [row, frame] = await Promise.all([found.boundingBox(), log(page).boundingBox()])
      return !!row && !!frame && row.y >= frame.y && row.y + row.height <= frame.y + frame.height
    }
    await expect.poll(isOnScreen).toBe(true)
    expect((await shown(page)).length).toBeLessThan(FEW)
  })
})

describe('a tree of 300 sessions', () => {
  it('has a time line with only the lanes on the screen in the document, and the last one at its end', async () => {
    const root = await openSession(stello.db, newSessionRow())
    await write(stello.db, root, 'm1.0', 1, [{ role: 'assistant', content: 'go' }])
    for (let n = 1; n < 300; n++) {
      const sessionId = newId()
      const row = newSessionRow({ sessionId, rootId: root.sessionId, parentId: root.sessionId, depth: 1 })
      const run = await openSession(stello.db, { ...row, config: { ...row.config, label: `part ${n}` } })
      await write(stello.db, run, 'm1.0', 1, [{ role: 'assistant', content: `part ${n}` }])
    }
    const { page, errors } = await browser.open(`${await site()}/#/s/${root.sessionId}`)
    await page.getByRole('tab', { name: 'Time line' }).click()
    const lanes = page.locator('.lane')
    await lanes.getByText('part 1', { exact: true }).waitFor()
    expect(await lanes.count()).toBeLessThan(FEW)
    await page.getByRole('group', { name: 'Lanes' }).evaluate((element) => (element.scrollTop = element.scrollHeight))
    await lanes.getByText('part 299', { exact: true }).waitFor()
    expect(await lanes.count()).toBeLessThan(FEW)
    expect(await page.locator('.lane .span').count()).toBeGreaterThan(0)
    expect(errors).toEqual([])
  })
})
