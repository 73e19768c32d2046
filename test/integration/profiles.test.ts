/** Sessions that begin with a profile: the profile counts from the first message on, and is missed when it is gone. */
import { expect, it } from 'vitest'
import type { ForkProfile } from '../../src/agent/profile.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { profiles } from '../support/forks.ts'
import { ask, eventOf, useStello } from '../support/session-fixture.ts'

const stello = useStello()

/** Answers with its system prompt. */
const echo = scriptedModel(({ messages }) => messages.find(({ role }) => role === 'system')?.content ?? '(none)')

it.each<[string, ForkProfile, string | undefined, string]>([
  ['before the session’s', { systemPrompt: 'P' }, 'S', 'P\n\nS'],
  ['behind the session’s', { systemPrompt: 'P', systemPromptMode: 'append' }, 'S', 'S\n\nP'],
  ['instead of the session’s', { systemPrompt: 'P', systemPromptMode: 'preset' }, 'S', 'P'],
  ['alone', { systemPrompt: () => 'P' }, undefined, 'P'],
  ['not at all, where it has none', {}, undefined, 'A'],
])('the prompt of the profile that a client names stands %s', async (_how, profile, systemPrompt, prompt) => {
  const agent = { llm: echo, systemPrompt: 'A', capabilities: { profiles: profiles({ p: profile }) } }
  const { taskQueue } = await stello.work(agent)
  const options = { agent: taskQueue, profile: 'p', ...(systemPrompt !== undefined && { systemPrompt }) }
  expect(await ask(await stello.client.createSession(options), 'hello')).toBe(prompt)
})

it('a profile that is gone when a session or a fork begins pauses it, naming the profiles that exist; resume finds it again', async () => {
  const withProfile = { llm: echo, capabilities: { profiles: profiles({ p: { systemPrompt: 'P' }, q: {} }) } }
  const first = await stello.work(withProfile)
  const name = first.taskQueue
  const parent = await stello.client.createSession({ agent: name })
  await ask(parent, 'hello')
  await first.stop()
  const begun = [
    await parent.fork({ label: 'fork', profile: 'p' }),
    await stello.client.createSession({ agent: name, profile: 'p' }),
  ]
  const without = await stello.work({ llm: echo, name, capabilities: { profiles: profiles({ q: {} }) } })
  for (const session of begun) {
    await eventOf(session, 'session.paused')
    expect((await session.state()).pause).toMatchObject({
      reason: 'agent_error',
      message: 'unknown profile "p". Available: q',
      hint: expect.stringContaining('resume') as string,
    })
  }
  await without.stop()
  await stello.work({ ...withProfile, name })
  for (const session of begun) {
    await session.resume()
    expect(await ask(session, 'hello')).toBe('P')
  }
})

it('a session that cannot begin can be closed', async () => {
  const needing = { p: { systemPrompt: ({ state = '' }: Record<string, string>) => state } }
  const { taskQueue } = await stello.work({ llm: echo, capabilities: { profiles: profiles(needing) } })
  const session = await stello.client.createSession({ agent: taskQueue, profile: 'p' })
  await eventOf(session, 'session.paused')
  expect((await session.state()).pause).toMatchObject({
    reason: 'agent_error',
    message: expect.stringContaining('the var "state" is missing') as string,
  })
  await session.close()
  await eventOf(session, 'session.closed')
})
