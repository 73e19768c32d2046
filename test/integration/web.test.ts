/** Web tools in sessions: another worker opens again what a session has open, and the model is told. */
import { expect, it } from 'vitest'
import { browser, web } from '../../src/capabilities/index.ts'
import { defineProfile } from '../../src/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { obedient, results } from '../seeds/obedient.ts'
import { useStello } from '../support/session-fixture.ts'
import { useSite } from '../unit/capabilities/sites.ts'

const stello = useStello()

it('a session reads a page, and its browser goes on from there with another worker', async () => {
  const { host } = await useSite('<title>Ships</title><p>A brig has two masts.</p>')
  const url = `http://${host}/`
  const reader = () =>
    defineProfile({
      id: `reader-${process.pid}`,
      agent: { model: scriptedModel(obedient) },
      capabilities: [web({ allow: [host] }), browser({ allow: [host] })],
    })
  const worker = await stello.serve(reader())
  const session = await stello.client.createSession({ agent: reader().name })
  const fetched = await results(session, { name: 'WebFetch', arguments: { url } })
  expect(fetched).toEqual([expect.stringContaining('# Ships\n\nA brig has two masts.')])
  const opened = await results(session, { name: 'BrowserOpen', arguments: { url } })
  expect(opened).toEqual([expect.stringContaining('A brig has two masts.')])
  await worker.stop()
  await stello.serve(reader())
  const read = await results(session, { name: 'BrowserRead', arguments: {} })
  expect(read).toEqual([expect.stringMatching(/^The page was closed meanwhile[^]*A brig has two masts\./)])
})

it('a rule for a domain holds wherever a page or a redirect leads', async () => {
  const far = await useSite('secret')
  const near = await useSite(({ url }, response) => {
    response.writeHead(302, { location: `http://localhost:${far.port}${url}` }).end()
  })
  const allow = [near.host, `localhost:${far.port}`]
  const session = await stello.session({
    llm: scriptedModel(obedient),
    permissions: { mode: 'yolo', deny: ['BrowserOpen(domain:localhost)'] },
    capabilities: { packs: [browser({ allow })] },
  })
  const opened = await results(session, { name: 'BrowserOpen', arguments: { url: `http://${near.host}/x` } })
  expect(opened).toEqual([expect.stringContaining(`was not led to http://localhost:${far.port}/x: the rule`)])
  expect(far.asked).toEqual([])
})
