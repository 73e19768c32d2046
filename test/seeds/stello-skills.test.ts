/** Stello's document on tools, its skills: how they lead from session to session, and who may use which. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { ForkProfileRegistryImpl, SkillRouterImpl, loadSkillsFromDirectory } from '../../src/index.ts'
import type { SessionHandle } from '../../src/client/index.ts'
import { scriptedModel, type ReplyToolCall } from '../../src/testing/index.ts'
import { ask, useStello } from '../support/session-fixture.ts'
import { obedient, results } from './obedient.ts'

const stello = useStello()

const offered = (tools: { name: string; parameters: object }[] = []): string[] | undefined => {
  const schema = tools.find(({ name }) => name === 'activate_skill')?.parameters as
    | { properties: { name: { enum: string[] } } }
    | undefined
  return schema?.properties.name.enum
}
const fork = (label: string, profile: string): ReplyToolCall => ({
  name: 'stello_create_session',
  arguments: { label, profile },
})
const activate = (name: string): ReplyToolCall => ({ name: 'activate_skill', arguments: { name } })

describe('skills', () => {
  it('lead from session to session, and a profile’s white-list says which of them a child may use', async () => {
    const llm = scriptedModel(obedient)
    const skills = new SkillRouterImpl()
    const profiles = new ForkProfileRegistryImpl()
    for (const [country, code] of [
      ['the USA', 'us'],
      ['the UK', 'uk'],
    ]) {
      skills.register({
        name: `create-${code}-session`,
        description: `Opens sessions on studying in ${country}: schools, essays, visa`,
        content: `For a topic of ${country}:
- schools: stello_create_session({ label: '${code} schools: …', profile: '${code}-child' })
- essays: stello_create_session({ label: '${code} essays: …', profile: '${code}-child' })`,
      })
    }
    skills.register({
      name: 'general-research',
      description: 'Researches anything',
      content: 'Search thoroughly, report in good order.',
    })
    profiles.register('us-region', {
      systemPrompt: 'You know all about the USA.',
      systemPromptMode: 'preset',
      skills: ['create-us-session', 'general-research'],
    })
    profiles.register('uk-region', {
      systemPrompt: 'You know all about the UK.',
      systemPromptMode: 'preset',
      skills: ['create-uk-session', 'general-research'],
    })
    profiles.register('us-child', {
      systemPrompt: 'You choose schools in the USA.',
      systemPromptMode: 'preset',
      skills: [], // a leaf needs no activate_skill
    })
    profiles.register('uk-child', {
      systemPrompt: 'You choose schools in the UK.',
      systemPromptMode: 'preset',
      skills: [],
    })
    const main = await stello.session({ llm, capabilities: { skills, profiles } })
    const down = async (session: SessionHandle, ...call: ReplyToolCall[]): Promise<SessionHandle> => {
      const result = (await results(session, ...call)).at(-1) ?? ''
      return stello.client.session((JSON.parse(result) as { sessionId: string }).sessionId)
    }
    const us = await down(main, activate('general-research'), fork('USA', 'us-region'))
    expect(offered(llm.calls.at(-1)?.tools)).toEqual(['create-us-session', 'create-uk-session', 'general-research'])
    const uk = await down(main, fork('UK', 'uk-region'))
    await ask(uk, 'hello')
    expect(offered(llm.calls.at(-1)?.tools)).toEqual(['create-uk-session', 'general-research'])
    const mit = await down(us, activate('create-us-session'), fork('us schools: MIT', 'us-child'))
    expect(offered(llm.calls.at(-1)?.tools)).toEqual(['create-us-session', 'general-research'])
    expect(llm.calls.at(-1)?.messages.find(({ name }) => name === 'activate_skill')?.content).toMatch(
      /^For a topic of the USA:\n- schools:/,
    )
    await ask(mit, 'hello')
    expect(llm.calls.at(-1)?.tools.map(({ name }) => name)).toEqual(['stello_create_session'])
    expect(await results(us, activate('create-uk-session'))).toEqual([expect.stringContaining('create-uk-session')])
    expect((await us.transcript()).at(-2)).toMatchObject({ role: 'tool', isError: true })
  })

  it('come from a folder in the home of the user who runs the worker', async () => {
    const home = mkdtempSync(join(tmpdir(), 'seed-stello-'))
    onTestFinished(() => rmSync(home, { recursive: true }))
    vi.stubEnv('HOME', home)
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(homedir()).toBe(home)
    mkdirSync(join(home, 'my-skills', 'code-review'), { recursive: true })
    writeFileSync(
      join(home, 'my-skills', 'code-review', 'SKILL.md'),
      '---\nname: code-review\ndescription: Reviews code\n---\nCheck correctness, upkeep and safety.\n',
    )
    const skills = new SkillRouterImpl()
    const loaded = await loadSkillsFromDirectory('~/my-skills')
    for (const skill of loaded) skills.register(skill)

    const session = await stello.session({ llm: scriptedModel(obedient), capabilities: { skills } })
    expect(await results(session, activate('code-review'))).toEqual(['Check correctness, upkeep and safety.'])
  })
})
