/**
 * The tree of the example: main → us-region, uk-region → us-child, each with exactly the skills and the prompt it may
 * have.
 */
import { expect, it } from 'vitest'
import type { Model } from '../../src/core/model.ts'
import { studyAbroadAgent } from '../../examples/study-abroad/agent.ts'
import type { SessionHandle } from '../../src/client/index.ts'
import { replyBy, scriptedModel, type ScriptFunction, type ScriptRequest } from '../../src/testing/index.ts'
import { ask, useStello } from '../support/session-fixture.ts'
import { speakingJson } from '../support/speaking-json.ts'

const stello = useStello()

const fork = (label: string, profile: string): { name: string; arguments: object } => ({
  name: 'stello_create_session',
  arguments: { label, profile },
})

/** The skills that a model is offered; undefined if `activate_skill` is not there. */
function skillsIn({ tools }: Pick<ScriptRequest, 'tools'>): string[] | undefined {
  const offered = tools.find(({ name }) => name === 'activate_skill')
  const { properties } = (offered?.parameters ?? {}) as { properties?: { name?: { enum?: string[] } } }
  for (const skill of properties?.name?.enum ?? []) expect(offered?.description).toContain(skill)
  return properties?.name?.enum
}

async function childOf(session: SessionHandle, label: string): Promise<SessionHandle> {
  const child = (await session.tree()).children.find((each) => each.label === label)
  return stello.client.session(child?.id ?? '')
}

/** The model, and what it was asked. With native calls it is asked the same as with JSON actions. */
function recorded(model: Model): Model & { calls: Omit<ScriptRequest, 'call'>[] } {
  const calls: Omit<ScriptRequest, 'call'>[] = []
  return {
    ...model,
    calls,
    complete(messages, options) {
      calls.push({ messages: [...messages], tools: options?.tools ?? [] })
      return model.complete(messages, options)
    },
  }
}

it.each<[string, (script: ScriptFunction) => Model]>([
  ['native calls', scriptedModel],
  ['JSON actions', speakingJson],
])('with %s grows a tree in which each level sees only the skills that lead to its own children', async (_, model) => {
  const llm = recorded(
    model(
      replyBy([
        ['USA or the UK?', { toolCalls: [fork('USA', 'us-region'), fork('UK', 'uk-region')] }],
        ['Which university?', { toolCalls: [{ name: 'activate_skill', arguments: { name: 'create-us-session' } }] }],
        [
          ({ content }) => content.includes('profile: "us-child"'),
          { toolCalls: [fork('USA: schools, MIT', 'us-child')] },
        ],
        ['May I?', { toolCalls: [{ name: 'activate_skill', arguments: { name: 'create-us-session' } }] }],
        [() => true, 'done'],
      ]),
    ),
  )
  const agent = studyAbroadAgent(llm)
  await stello.serve(agent)
  const main = await stello.client.createSession({ agent: agent.name, label: 'main' })
  await ask(main, 'USA or the UK?')
  const [us, uk] = [await childOf(main, 'USA'), await childOf(main, 'UK')]
  await ask(us, 'Which university?')
  const skill = llm.calls.at(-2)?.messages.findLast(({ role }) => role === 'tool')
  expect(skill?.content).toContain('profile: "us-child"')
  const school = await childOf(us, 'USA: schools, MIT')
  await ask(uk, 'hello')
  await ask(school, 'hello')

  const shown = (question: string, prompt: RegExp): Omit<ScriptRequest, 'call'> => {
    const call = llm.calls.find(
      ({ messages: [system, first] }) => first?.content === question && prompt.test(system?.content ?? ''),
    )
    if (!call) throw new Error(`no model was asked "${question}" with ${prompt}`)
    return call
  }
  const every = ['create-us-session', 'create-uk-session', 'general-research']
  expect(skillsIn(shown('USA or the UK?', /^You advise people who want to study abroad/))).toEqual(every)
  expect(
    skillsIn(
      shown(
        'Which university?',
        /^You are an expert in studying in the USA and answer for everything that concerns it\.$/,
      ),
    ),
  ).toEqual(['create-us-session', 'general-research'])
  expect(
    skillsIn(shown('hello', /^You are an expert in studying in the UK and answer for everything that concerns it\.$/)),
  ).toEqual(['create-uk-session', 'general-research'])
  const atSchool = shown(
    'hello',
    /^You help one student choose among universities in the USA\. Stay with that question\.$/,
  )
  expect(skillsIn(atSchool)).toBeUndefined()
  expect(atSchool.tools.map(({ name }) => name)).toEqual(['stello_create_session'])

  await ask(school, 'May I?')
  expect(llm.calls.at(-1)?.messages.at(-1)?.content).toContain('TOOL_NOT_FOUND')
  const [usTree, ukTree] = [await us.tree(), await uk.tree()]
  expect(usTree).toMatchObject({
    profile: 'us-region',
    depth: 1,
    parentId: main.id,
    children: [{ profile: 'us-child', depth: 2, children: [] }],
  })
  expect(ukTree).toMatchObject({ profile: 'uk-region', depth: 1, parentId: main.id, children: [] })
})
