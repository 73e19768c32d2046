/** AskUserQuestion: up to four questions to the person, one after another, each with options to choose from. */
import { z } from 'zod'
import type { Duration } from '../../core/duration.ts'
import { createTool } from '../../tool/compat.ts'
import type { PersonQuestion } from '../../tool/person.ts'
import type { Tool } from '../../tool/tool.ts'

const option = z.object({
  label: z.string().min(1).max(200).describe('What the person chooses, 1 to 5 words'),
  description: z.string().max(1000).describe('What it means, and what follows from it'),
  preview: z.string().max(5000).optional().describe('A text to compare the options by, such as code'),
})
const question = z.object({
  question: z.string().min(1).max(1000).describe('The whole question, with a question mark'),
  header: z.string().min(1).max(12).describe('A very short name of the question'),
  options: z
    .array(option)
    .min(2)
    .max(4)
    .refine((options) => distinct(options.map(({ label }) => label)), 'two options have the same label')
    .describe('Distinct options. A person may always answer in own words'),
  multiSelect: z.boolean().default(false).describe('More than one option may be chosen'),
})
const schema = z.object({
  questions: z
    .array(question)
    .min(1)
    .max(4)
    .refine((questions) => distinct(questions.map((each) => each.question)), 'two questions are the same'),
})
type Asked = z.output<typeof question>

/** @param expiresIn how long a question waits; then the model decides itself */
export function askUserQuestionTool(expiresIn?: Duration): Tool {
  return createTool({
    name: 'AskUserQuestion',
    kind: 'readonly',
    description: {
      short: 'Asks the person you work for, and waits for the answers.',
      usageNotes: [
        'Use it when only the person can decide: taste, priorities, facts that no tool knows',
        'Put the option that you recommend first and add "(Recommended)" to its label',
        'Add no option such as "Other": the person may always answer in own words',
      ],
    },
    schema,
    async execute({ questions }, ctx) {
      const answers: string[] = []
      for (const each of questions) {
        const { text, declined } = await ctx.ask({ ...toQuestion(each), ...(expiresIn !== undefined && { expiresIn }) })
        answers.push(`"${each.question}" = ${declined ? notAnswered(text) : `"${text}"`}`)
        if (declined) break
      }
      const told = answers.join('\n')
      return { success: true, llmContent: `The person has answered:\n${told}`, displayContent: told }
    },
  })
}

function toQuestion({ question: message, header, options, multiSelect }: Asked): PersonQuestion {
  const previews = options.flatMap(({ label, preview }) => (preview ? [`${label}:\n${preview}`] : []))
  return {
    message,
    header,
    options: options
      .filter(({ label }) => !/^other$/i.test(label.trim()))
      .map(({ label, description }) => ({ label, description })),
    multiSelect,
    ...(previews.length > 0 && { preview: previews.join('\n\n') }),
  }
}

function notAnswered(why: string): string {
  return `(no answer${why ? `: ${why}` : ''}; decide yourself, and do not ask again)`
}

function distinct(texts: readonly string[]): boolean {
  return new Set(texts).size === texts.length
}
