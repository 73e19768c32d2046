/** AskUserQuestion as a model meets it. */
import { expect, it } from 'vitest'
import { people } from '../../../../src/capabilities/index.ts'
import type { PersonAnswer, PersonQuestion } from '../../../../src/index.ts'
import { callToolOf } from '../call-tool-of.ts'
import { testContext } from '../test-context.ts'

const option = (label: string, more: object = {}): object => ({ label, description: `about ${label}`, ...more })
const question = (text: string, more: object = {}): object => ({
  question: text,
  header: 'Region',
  options: [option('EU'), option('US')],
  multiSelect: false,
  ...more,
})

function useQuestions(answer: (asked: PersonQuestion) => PersonAnswer = () => ({ text: 'EU' })) {
  const ctx = testContext({}, answer)
  const call = callToolOf(people(), ctx)
  return { ctx, ask: (...questions: unknown[]) => call('AskUserQuestion', { questions }) }
}

it('asks one question after another, and tells the model every answer', async () => {
  const { ctx, ask } = useQuestions(({ message }) => ({
    text: message === 'Where?' ? 'EU' : 'today, or a little later',
  }))
  expect(await ask(question('Where?'), question('When?'))).toEqual({
    text: 'The person has answered:\n"Where?" = "EU"\n"When?" = "today, or a little later"',
    isError: false,
    display: '"Where?" = "EU"\n"When?" = "today, or a little later"',
  })
  expect(ctx.asked).toEqual([
    {
      message: 'Where?',
      header: 'Region',
      options: [
        { label: 'EU', description: 'about EU' },
        { label: 'US', description: 'about US' },
      ],
      multiSelect: false,
    },
    expect.objectContaining({ message: 'When?' }),
  ])
})

it('shows the previews of options below the question', async () => {
  const { ctx, ask } = useQuestions()
  await ask(question('Where?', { options: [option('EU', { preview: 'eu: 1' }), option('US', { preview: 'us: 2' })] }))
  expect(ctx.asked[0]?.preview).toBe('EU:\neu: 1\n\nUS:\nus: 2')
})

it('shows no option "Other", because a person may always answer in own words', async () => {
  const { ctx, ask } = useQuestions()
  await ask(question('Where?', { options: [option('EU'), option('US'), option('Other')] }))
  expect(ctx.asked[0]?.options?.map(({ label }) => label)).toEqual(['EU', 'US'])
})

it('ends with the first question that the person declines, and says so to the model', async () => {
  const { ctx, ask } = useQuestions(() => ({ text: 'no time', declined: true }))
  expect(await ask(question('Where?'), question('When?'))).toMatchObject({
    isError: false,
    text: 'The person has answered:\n"Where?" = (no answer: no time; decide yourself, and do not ask again)',
  })
  expect(ctx.asked).toHaveLength(1)
})

it.each([
  ['no question', []],
  ['five questions', Array.from({ length: 5 }, (_, i) => question(`${i}?`))],
  ['one option', [question('Where?', { options: [option('EU')] })]],
  ['five options', [question('Where?', { options: ['a', 'b', 'c', 'd', 'e'].map((label) => option(label)) })]],
  ['a header of 13 characters', [question('Where?', { header: 'x'.repeat(13) })]],
  ['the same question twice', [question('Where?'), question('Where?')]],
  ['the same option twice', [question('Where?', { options: [option('EU'), option('EU')] })]],
])('refuses %s, and asks nothing', async (_what, questions) => {
  const { ctx, ask } = useQuestions()
  expect(await ask(...questions)).toMatchObject({ isError: true })
  expect(ctx.asked).toEqual([])
})

it('waits as long as the pack says, and then the model decides itself', async () => {
  const ctx = testContext({}, () => ({ text: 'nobody has answered within 2 days', declined: true, expired: true }))
  const told = await callToolOf(people({ expiresIn: '2 days' }), ctx)('AskUserQuestion', {
    questions: [question('Where?')],
  })
  expect(ctx.asked).toMatchObject([{ message: 'Where?', expiresIn: '2 days' }])
  expect(told.text).toContain(
    '"Where?" = (no answer: nobody has answered within 2 days; decide yourself, and do not ask again)',
  )
  expect(() => people({ expiresIn: '2 years' })).toThrow('people: expiresIn')
})
