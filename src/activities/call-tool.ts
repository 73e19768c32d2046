/** One tool call: find, check, run under its time-out, and commit the result. */
import { StelloError, isStelloError, messageOf } from '../agent/errors.ts'
import { toolNotFound } from '../agent/tool-list.ts'
import type { Tool } from '../agent/tool.ts'
import type { CallToolInput, ToolOutcome } from '../session/steps.ts'
import { currentAttempt } from './attempt.ts'
import { runBuiltin } from './builtin-tools.ts'
import type { Deps } from './deps.ts'
import { executeTool } from './execute-tool.ts'
import { backoffMs } from './failures.ts'
import { parseArguments } from './parse-arguments.ts'
import { runStep, type Ending, type Mine } from './run-step.ts'
import { readCallAtHand, toExecution, type CallAtHand } from './tool-call.ts'
import { toResult, type CallEnd } from './tool-result.ts'
import { askPerson, findOut } from './unknown-outcome.ts'

/** Attempts at a pure or idempotent tool that throws. */
const TOOL_ATTEMPTS = 3

export async function callTool(deps: Deps, input: CallToolInput): Promise<ToolOutcome> {
  const attempt = currentAttempt(input)
  const at = await readCallAtHand(deps, input)
  const { call, chain, tools } = at
  const found = tools.find(call.name)
  const tool = found && 'tool' in found ? found.tool : undefined
  const once = tool?.effect === 'non_idempotent'
  const started = performance.now()
  const settle = (claim: Mine, end: CallEnd): Ending<ToolOutcome> =>
    toResult({ input, claim, chain, durationMs: Math.round(performance.now() - started), end })
  const fail = (claim: Mine, error: StelloError): Ending<ToolOutcome> => settle(claim, { error })

  const run = async (claim: Mine, stop: AbortSignal): Promise<Ending<ToolOutcome>> => {
    if (!found) return fail(claim, toolNotFound(call.name, tools))
    const parsed = parseArguments(call, 'tool' in found ? found.tool.check : found.builtin.check)
    if (!parsed.ok) return fail(claim, new StelloError('TOOL_VALIDATION_ERROR', parsed.problem))
    if ('builtin' in found) return settle(claim, runBuiltin(found.builtin.name, parsed.value, deps.agent))
    return runTool({ deps, at, claim, stop, tool: found.tool, args: parsed.value, settle })
  }
  const unknown = async (claim: Mine, stop: AbortSignal): Promise<Ending<ToolOutcome>> => {
    if (claim.parked) return askPerson(at, claim)
    const verified = tool && (await findOut(deps, at, tool, stop))
    if (verified?.happened) return settle(claim, { value: verified.result })
    if (verified) return run(claim, stop)
    if (stop.reason === 'shutdown') return { kind: 'retry', error: shutsDown(), failed: false, begun: true }
    if (tool?.onUnknownOutcome === 'ask' && !stop.aborted) return askPerson(at, claim)
    return fail(claim, new StelloError('TOOL_OUTCOME_UNKNOWN', unknownText(call.name)))
  }
  const result = await runStep<ToolOutcome>(deps, attempt, {
    step: { key: input.key, kind: 'tool', name: call.name, inputHash: at.hash, durable: once },
    run,
    // A tool that is gone may have been one that must not be repeated.
    ...((once || !found) && { unknown }),
    refused: (claim, message) =>
      fail(claim, new StelloError('TOOL_EXECUTION_ERROR', `the tool's result cannot be stored: ${message}`)),
  })
  if (!result) return { kind: 'notStarted' }
  if ('outcome' in result) return result.outcome
  throw new Error(`tool step ${input.key} met an opening`)
}

interface RunningTool {
  deps: Deps
  at: CallAtHand
  claim: Mine
  stop: AbortSignal
  tool: Tool
  args: unknown
  settle(claim: Mine, end: CallEnd): Ending<ToolOutcome>
}

async function runTool({ deps, at, claim, stop, tool, args, settle }: RunningTool): Promise<Ending<ToolOutcome>> {
  const { input } = at
  const live = deps.live.step(input.sessionId, input.key, claim.lease)
  live.status(input.call, 'DOING', args)
  try {
    const onUpdate = (update: unknown): void => live.update(input.call, update)
    const value = await executeTool(tool, args, toExecution(deps, at, tool, stop, onUpdate))
    return settle(claim, { value })
  } catch (error) {
    if (stop.aborted && stop.reason !== 'cancel') return handOver(tool)
    if (isStelloError(error) && error.fate === 'model') return settle(claim, { error })
    if (tool.effect !== 'non_idempotent' && claim.failures + 1 < TOOL_ATTEMPTS) {
      return { kind: 'retry', error, failed: true, delayMs: backoffMs }
    }
    return settle(claim, {
      error: new StelloError('TOOL_EXECUTION_ERROR', `tool "${tool.name}" failed: ${messageOf(error)}`),
    })
  } finally {
    await live.end()
  }
}

/** The worker shuts down. What may be repeated is given back; else the next worker finds it begun and unknown. */
function handOver(tool: Tool): Ending<ToolOutcome> {
  if (tool.effect !== 'non_idempotent') return { kind: 'retry', error: shutsDown(), failed: false }
  return { kind: 'abandon', error: shutsDown() }
}

function shutsDown(): Error {
  return new Error('the worker shuts down')
}

function unknownText(name: string): string {
  return (
    `the worker died while "${name}" was running: whether it took effect is unknown, and it was not run again. ` +
    'Check its effect before you decide to call it once more.'
  )
}
