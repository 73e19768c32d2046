/**
 * EnterPlanMode and ExitPlanMode: a session plans, and changes nothing, until a person has approved the plan. The mode is
 * a value of the session, which only narrows what the session may do: leaving it gives back what was there before.
 */
import { z } from 'zod'
import type { Duration } from '../../core/duration.ts'
import type { JsonSchema } from '../../core/model.ts'
import { createTool } from '../../tool/compat.ts'
import { MODE_TOOL, MODE_VALUE } from '../../tool/session-values.ts'
import type { Tool, ToolContext } from '../../tool/tool.ts'

/** Longest plan, in characters. */
const PLAN_LIMIT = 50_000
const YES = 'Yes'
const VERDICT: JsonSchema = {
  type: 'object',
  properties: {
    approved: { type: 'boolean', description: 'Whether the plan may be carried out' },
    plan: { type: 'string', description: 'The plan, if you have changed it' },
    feedback: { type: 'string', description: 'What is to be changed or heeded' },
  },
  required: ['approved'],
}

/** @param expiresIn how long the question waits; then the session goes on without a plan */
export function enterPlanModeTool(expiresIn?: Duration): Tool {
  return createTool({
    name: MODE_TOOL,
    kind: 'readonly',
    effect: 'idempotent',
    ordered: true,
    description: {
      short: 'Asks the person whether you may plan first. In plan mode only tools that change nothing run.',
      usageNotes: ['Use it before larger changes', 'When the plan is ready, call ExitPlanMode with it'],
    },
    schema: z.object({}),
    async execute(_args, ctx) {
      if (await isPlanning(ctx)) return 'Plan mode is on already. Call ExitPlanMode when the plan is ready.'
      const { text, declined } = await ctx.ask({
        header: 'Plan mode',
        message: 'May I look and plan first, without changing anything, and show you the plan?',
        options: [{ label: YES }, { label: 'No', description: 'Go on without a plan' }],
        ...(expiresIn !== undefined && { expiresIn }),
      })
      if (declined || text !== YES) {
        return {
          success: false,
          error: `The person does not want plan mode${text ? `: ${text}` : ''}. Go on without it.`,
        }
      }
      ctx.values.set(MODE_VALUE, 'plan')
      return 'Plan mode is on: only what changes nothing runs. Call ExitPlanMode when the plan is ready.'
    },
  })
}

/** @param expiresIn how long the plan waits; then it counts as not approved, and plan mode stays on */
export function exitPlanModeTool(expiresIn?: Duration): Tool {
  return createTool({
    name: 'ExitPlanMode',
    kind: 'readonly',
    effect: 'idempotent',
    ordered: true,
    description: {
      short: 'Shows the person your plan. When it is approved, plan mode ends, and you carry the plan out.',
      usageNotes: ['Without plan, the person is shown what you said last'],
    },
    schema: z.object({ plan: z.string().max(PLAN_LIMIT).optional().describe('The plan, in Markdown') }),
    async execute(args, ctx) {
      const plan = args.plan ?? lastSaid(ctx)
      if (!(await isPlanning(ctx))) return { success: false, error: 'Plan mode is off: call EnterPlanMode first.' }
      if (plan === '') return { success: false, error: 'There is no plan: give it as plan.' }
      const answer = await ctx.ask({
        header: 'Plan',
        message: 'May this plan be carried out?',
        preview: plan,
        schema: VERDICT,
        ...(expiresIn !== undefined && { expiresIn }),
      })
      const { approved, plan: edited = '', feedback = '' } = (answer.values ?? {}) as Verdict
      const said = feedback || (answer.declined ? answer.text : '')
      if (answer.declined || approved !== true) {
        const why = said ? `: ${said}` : '.'
        return { success: false, error: `The plan is not approved, and plan mode stays on${why}` }
      }
      ctx.values.delete(MODE_VALUE)
      const changed = edited !== '' && edited !== plan
      return [
        `The plan is approved${changed ? ', with changes by the person' : ''}. Plan mode is off: carry the plan out.`,
        ...(said ? [`The person adds: ${said}`] : []),
        ...(changed ? [`The plan as approved:\n${edited}`] : []),
      ].join('\n')
    },
  })
}

interface Verdict {
  approved?: boolean
  plan?: string
  feedback?: string
}

async function isPlanning(ctx: ToolContext): Promise<boolean> {
  return (await ctx.values.get(MODE_VALUE)) === 'plan'
}

function lastSaid({ contextSnapshot }: ToolContext): string {
  const said = contextSnapshot?.messages.findLast(({ role, content }) => role === 'assistant' && content.trim() !== '')
  return said?.content.slice(0, PLAN_LIMIT) ?? ''
}
