/** Where pages lead by themselves: links, forms, scripts, redirects and windows, judged by rules for domains. */
import type { ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { browser } from '../../../../src/capabilities/index.ts'
import { ruled } from '../../../../src/permissions/decide.ts'
import { toRules } from '../../../../src/permissions/rules.ts'
import type { PermissionRules } from '../../../../src/protocol/permission-rules.ts'
import type { Touch } from '../../../../src/tool/touch.ts'
import type { NormalizedResult } from '../../../../src/tool/result.ts'
import { until } from '../../../support/until.ts'
import { call, useSite, type Site } from '../sites.ts'
import { testContext } from '../test-context.ts'

/** The browser of one session under rules. `anew`: as after a change of workers. */
function useBrowser(hosts: string[], rules: PermissionRules) {
  const open = () => {
    const pack = browser({ allow: hosts })
    onTestFinished(() => pack.close?.())
    return pack
  }
  let pack = open()
  const { values } = testContext()
  const layers = [toRules(rules)]
  const context = { values, ruled: (tool: string, touch: Touch) => ruled({ mode: 'default', layers }, tool, touch) }
  return {
    call: (name: string, args: Record<string, unknown> = {}) => call(pack.tools, name, args, context),
    anew: async () => {
      await pack.close?.()
      pack = open()
    },
  }
}

interface Sites {
  /** `127.0.0.1:port` */
  near: Site
  /** `localhost:port` */
  far: Site
  hosts: string[]
  /** Answers the requests of the near site's page for `/wait`. */
  go(): void
  /** The URL of a path on the far one. */
  to(path: string): string
}

/** @param body of the near site's page; FAR stands for the far one's origin */
async function twoSites(body: string): Promise<Sites> {
  const far = await useSite('<title>Far</title><p>Far words</p><a href="/more">More</a><script>fetch("/here")</script>')
  const origin = `http://localhost:${far.port}`
  const waiting: ServerResponse[] = []
  const near = await useSite(({ url = '' }, response) => {
    if (url === '/wait') return void waiting.push(response)
    if (url === '/twice') return void response.writeHead(302, { location: '/redirect' }).end()
    if (url === '/redirect') return void response.writeHead(302, { location: `${origin}/redirected` }).end()
    response.setHeader('content-type', 'text/html').end(`<title>Near</title>${body.replaceAll('FAR', origin)}`)
  })
  return {
    near,
    far,
    hosts: [near.host, `localhost:${far.port}`],
    to: (path) => origin + path,
    go: () => {
      for (const response of waiting.splice(0)) response.end()
    },
  }
}

const refOf = (content: string, label: string): string =>
  new RegExp(`${label}[^\\n]*\\[ref=(\\w+)\\]`).exec(content)?.[1] ?? `no ref of ${label}`

const DENY = { deny: ['BrowserOpen(domain:localhost)'] }
const ASK = { ask: ['BrowserOpen(domain:localhost)'] }

describe.each([
  ['denied', DENY, ': the rule BrowserOpen(domain:localhost) denies it.'],
  ['asked about', ASK, ': the rule BrowserOpen(domain:localhost) asks a person first. To go there, call BrowserOpen'],
])('a domain that is %s is not requested, and the page stays where it was', (_, rules, why) => {
  it.each<[string, string, string, Record<string, unknown>?]>([
    ['a link', '<a href="FAR/redirected">Go</a>', 'link "Go"'],
    ['a redirect', '<a href="/redirect">Go</a>', 'link "Go"'],
    ['the second of two redirects', '<a href="/twice">Go</a>', 'link "Go"'],
    ['a window of its own', '<a href="/redirect" target="_blank">Go</a>', 'link "Go"'],
    ['a window that a script opens', `<button onclick="window.open('/redirect')">Go</button>`, 'button "Go"'],
    ['a script', `<button onclick="setTimeout(() => { location = 'FAR/redirected' }, 1)">Go</button>`, 'button "Go"'],
    ['a form', '<form action="FAR/redirected" method="post"><button>Go</button></form>', 'button "Go"'],
    [
      'Enter',
      '<form action="FAR/redirected"><input aria-label="Go"></form>',
      'textbox "Go"',
      { text: 'x', submit: true },
    ],
  ])('by %s', async (_way, body, label, typed) => {
    const { near, far, hosts, to } = await twoSites(body)
    const { call } = useBrowser(hosts, rules)
    const { content } = await call('BrowserOpen', { url: `http://${near.host}/` })
    const first = await call(typed ? 'BrowserType' : 'BrowserClick', { ref: refOf(content, label), ...typed })
    const told = (result: NormalizedResult) => (result.content.includes('was not led to') ? result : undefined)
    const { content: said } = told(first) ?? (await until('it is told', async () => told(await call('BrowserRead'))))
    expect(said).toMatch(/^The page was not led to /)
    expect(said).toContain(to('/redirected'))
    expect(said).toContain(why)
    expect(said).toContain('\nNear\n')
    expect((await call('BrowserRead')).content).toMatch(/^<web-content from="http:.*\nNear\n/)
    expect(far.asked).toEqual([])
  })

  it('by what BrowserOpen is redirected to', async () => {
    const { near, far, hosts, to } = await twoSites('<p>Near words</p>')
    const { call } = useBrowser(hosts, rules)
    expect(await call('BrowserOpen', { url: `http://${near.host}/redirect` })).toMatchObject({
      isError: true,
      error: { type: 'permission_denied' },
      content: expect.stringContaining(`The page was not led to ${to('/redirected')}${why}`),
    })
    expect(far.asked).toEqual([])
    expect((await call('BrowserOpen', { url: `http://${near.host}/` })).content).toContain('Near words')
  })

  it('by opening again the page of a session whose worker has changed', async () => {
    const { far, hosts, to } = await twoSites('')
    const { call, anew } = useBrowser(hosts, ASK)
    await call('BrowserOpen', { url: to('/') })
    await anew()
    far.asked.length = 0
    expect(await call('BrowserRead')).toMatchObject({ isError: true, error: { type: 'permission_denied' } })
    expect(far.asked).toEqual([])
  })
})

it('a host that a call was permitted to open is not asked about again by its own links and redirects', async () => {
  const { hosts, to } = await twoSites('')
  const { call } = useBrowser(hosts, ASK)
  const { content } = await call('BrowserOpen', { url: to('/') })
  expect(content).toContain('Far words')
  await call('BrowserClick', { ref: refOf(content, 'link "More"') })
  const more = await until('the page has changed', async () => {
    const read = await call('BrowserRead')
    return read.content.includes(to('/more"')) ? read : undefined
  })
  expect(more).toMatchObject({ isError: false, content: expect.not.stringContaining('was not led to') })
})

it('nothing is held back where no rule speaks of it', async () => {
  const { near, hosts } = await twoSites('<a href="/redirect">Go</a>')
  const { call } = useBrowser(hosts, { deny: ['BrowserOpen(domain:example.com)', 'WebFetch(domain:localhost)'] })
  expect((await call('BrowserOpen', { url: `http://${near.host}/redirect` })).content).toContain('Far words')
})

it('a click is not done where the page has gone to another host since it was permitted', async () => {
  const { far, hosts, near, go } = await twoSites(
    `<button onclick="fetch('/clicked')">Go</button><script>fetch('/wait').then(() => { location = 'FAR/' })</script>`,
  )
  const { call } = useBrowser(hosts, {})
  const { content } = await call('BrowserOpen', { url: `http://${near.host}/` })
  const asked = (site: Site, wanted: string) => async () => site.asked.some(({ path }) => path === wanted) || undefined
  await until('the page waits', asked(near, '/wait'))
  go()
  await until('the page has moved', asked(far, '/here'))
  const moved = await call('BrowserClick', { ref: refOf(content, 'button "Go"') })
  expect(moved).toMatchObject({ isError: true, content: expect.stringMatching(/^Not done[^]*Far words/) })
  expect(near.asked.map(({ path }) => path)).not.toContain('/clicked')
})
