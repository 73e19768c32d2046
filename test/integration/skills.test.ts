/**
 * Hidden tools in sessions: a model sees them after it has discovered them, also after another worker has taken over.
 */
import { expect, it } from 'vitest'
import { z } from 'zod'
import { skills } from '../../src/capabilities/index.ts'
import { SkillRouterImpl } from '../../src/index.ts'
import { scriptedModel, type ScriptedModel } from '../../src/testing/index.ts'
import { tool } from '../../src/tool/tool-function.ts'
import { obedient, results } from '../seeds/obedient.ts'
import { ask, useStello } from '../support/session-fixture.ts'

const stello = useStello()

const mail = tool('mail_send', 'Sends mail', z.object({ to: z.string() }), async ({ to }) => `sent to ${to}`)
const listed = ({ packs }: { packs: ReturnType<typeof skills>[] }) => ({ capabilities: { tools: [mail], packs } })

const shown = (model: ScriptedModel): string[] => model.calls.at(-1)?.tools.map(({ name }) => name) ?? []

it('a hidden tool is shown from the round after its discovery on, also by another worker', async () => {
  const model = scriptedModel(obedient)
  const agent = { llm: model, ...listed({ packs: [skills({ defer: ['mail_*'] })] }) }
  const worker = await stello.work(agent)
  const session = await stello.client.createSession({ agent: worker.taskQueue })
  await ask(session, 'hello')
  expect(shown(model)).toEqual(['stello_create_session', 'DiscoverTools', 'Skill'])

  const discover = { name: 'DiscoverTools', arguments: { query: 'mail' } }
  expect(await results(session, discover)).toEqual([expect.stringContaining('"required":["to"]')])
  expect(shown(model)).toContain('mail_send')

  await worker.stop()
  await stello.work({ ...agent, name: worker.taskQueue })
  expect(await results(session, { name: 'mail_send', arguments: { to: 'Ada' } })).toEqual(['sent to Ada'])
  expect(shown(model)).toContain('mail_send')

  const other = await stello.client.createSession({ agent: worker.taskQueue })
  await ask(other, 'hello')
  expect(shown(model)).not.toContain('mail_send')
})

it('Skill and activate_skill load the same skills, and only those that the session may have', async () => {
  const router = new SkillRouterImpl()
  router.register({ name: 'review', description: 'Reviews code', content: 'Review $ARGUMENTS.' })
  const session = await stello.session({
    llm: scriptedModel(obedient),
    capabilities: { skills: router, packs: [skills()] },
  })
  expect(await results(session, { name: 'Skill', arguments: { skill: 'review', args: 'all' } })).toEqual([
    'Review all.',
  ])
  expect(await results(session, { name: 'activate_skill', arguments: { name: 'review' } })).toEqual([
    'Review $ARGUMENTS.',
  ])
})

it('activate_skill names the folder of a skill with files, and reads a long skill in parts', async () => {
  const router = new SkillRouterImpl()
  const long = 'x'.repeat(60_000)
  router.register({ name: 'long', description: 'd', content: long, folder: '/srv/skills/long', files: ['a.md'] })
  router.register({ name: 'short', description: 'd', content: 'All', folder: '/srv/skills/short', files: [] })
  const session = await stello.session({ llm: scriptedModel(obedient), capabilities: { skills: router } })
  const activate = async (args: object): Promise<string> =>
    (await results(session, { name: 'activate_skill', arguments: args })).join()
  expect(await activate({ name: 'short' })).toBe('All')
  expect(await activate({ name: 'long' })).toMatch(
    /^Base directory: \/srv\/skills\/long\nFiles: a\.md\n\nx+\n\[characters 0 to 45056 of 60000; read on with offset 45056\]$/,
  )
  expect(await activate({ name: 'long', offset: 45_056 })).toMatch(/^x{14944}\n\[.*this is the end\]$/)
})
