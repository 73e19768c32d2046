/** Tools that do not end. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../src/tool/tool-function.ts'
import { scriptedModel, type ScriptedModel } from '../../src/testing/index.ts'
import { useStello } from '../support/session-fixture.ts'

const stello = useStello()

const hang = tool(
  'hang',
  'Does not end',
  z.object({ hang: z.boolean() }),
  ({ hang: forever }) => (forever ? new Promise<string>(() => undefined) : 'ended'),
  { timeout: 100 },
)

/** Calls the tool once per entry, then says how many time-outs it has read. */
function asking(hangs: boolean[]): ScriptedModel {
  return scriptedModel(({ messages, call }) => {
    const forever = hangs[call]
    if (forever !== undefined) return { toolCalls: [{ name: 'hang', arguments: { hang: forever } }] }
    return `${messages.filter(({ content }) => content.startsWith('TOOL_TIMEOUT')).length} time-outs`
  })
}

describe('a tool that hangs', () => {
  it('is given up after its time-out, and the model reads TOOL_TIMEOUT', async () => {
    const session = await stello.session({ llm: asking([true]), capabilities: { tools: [hang] } })
    expect(await (await session.send('go')).result()).toMatchObject({ text: '1 time-outs', stopReason: 'end_turn' })
    const [, , result] = await session.transcript()
    expect(result).toMatchObject({
      role: 'tool',
      isError: true,
      content: 'TOOL_TIMEOUT: tool "hang" did not end within 0.1 s',
    })
  })

  it('pauses the session the third time in a row, and the turn goes on after resume', async () => {
    const llm = asking([true, true, true, true, true])
    const session = await stello.session({ llm, maxToolRounds: 9, capabilities: { tools: [hang] } })
    const turn = await session.send('go')
    await expect(turn.result({ onPause: 'throw' })).rejects.toMatchObject({
      code: 'SESSION_PAUSED',
      message: expect.stringContaining('tool_timeouts') as string,
    })
    expect(await session.state()).toMatchObject({
      state: 'paused',
      pause: { reason: 'tool_timeouts', message: 'tool "hang" timed out 3 times in a row' },
    })
    expect(llm.calls).toHaveLength(3)
    await session.resume()
    // The resume has cleared the count, so two more time-outs do not pause.
    expect(await turn.result()).toMatchObject({ text: '5 time-outs', rounds: 5 })
  })

  it('counts over turns', async () => {
    const llm = scriptedModel(({ messages }) =>
      messages.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'hang', arguments: { hang: true } }] } : 'sorry',
    )
    const session = await stello.session({ llm, timeoutsBeforePause: 2, capabilities: { tools: [hang] } })
    expect(await (await session.send('one')).result()).toMatchObject({ text: 'sorry' })
    await expect((await session.send('two')).result({ onPause: 'throw' })).rejects.toMatchObject({
      code: 'SESSION_PAUSED',
    })
  })

  it('starts to count anew after any other outcome of the tool', async () => {
    const session = await stello.session({
      llm: asking([true, true, false, true, true]),
      maxToolRounds: 9,
      capabilities: { tools: [hang] },
    })
    const turn = await session.send('go')
    expect(await turn.result({ onPause: 'throw' })).toMatchObject({ text: '4 time-outs' })
  })
})
