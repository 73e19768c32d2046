/**
 * Tools that are complete only at run time: description and parameters come from outside, or each call has its own
 * instance. This file makes them a `Tool` with `open`.
 */
import { StelloError, messageOf } from '../core/errors.ts'
import type { ToolLike, DynamicTool, ToolClass, ToolFactory, ToolFacts } from './any-tool.ts'
import type { OpenTool, SessionContext, Tool, ToolContext } from './tool.ts'

const FACTS = [
  'name',
  'displayName',
  'annotations',
  'effect',
  'kind',
  'timeout',
  'timeoutMs',
  'retries',
  'onUnknownOutcome',
  'ordered',
  'runsIn',
] as const

/**
 * The field in which a `BaseTool` keeps its call. It is found by name, so that tools of another copy of this package
 * work too.
 */
const CALL = 'stelloCall'

type Convert = (like: unknown) => Tool

export function isDynamic(value: unknown): value is DynamicTool | ToolFactory | ToolClass {
  return typeof value === 'function' || has(value, 'factory') || has(value, 'getDescription')
}

/**
 * Refuses a dynamic tool where a description is needed at once.
 *
 * @param by who needs the description, for the error
 * @throws StelloError INVALID_TOOL naming the tool
 */
export function mustBeKnown(tool: unknown, by: string): void {
  if (!isDynamic(tool) && !has(tool, 'open')) return
  const { name } = tool as { name: unknown }
  throw new StelloError('INVALID_TOOL', `${by}: tool "${String(name)}" says only when asked what it does and takes`, {
    hint: 'leave it to a session, which asks it at each model call: jsonActions and withToolsPrompt put it into the prompt',
  })
}

/** @throws StelloError INVALID_TOOL naming the tool and the field */
export function toDynamicTool(given: DynamicTool | ToolFactory | ToolClass, convert: Convert): Tool {
  const { known, make, owned } = read(given)
  const facts = Object.fromEntries(FACTS.flatMap((key) => (known[key] === undefined ? [] : [[key, known[key]]])))
  const { name } = known
  const open = async (ctx: SessionContext): Promise<OpenTool> => {
    const instance = await make(ctx)
    const dispose = async (): Promise<void> => {
      if (owned && has(instance, 'dispose')) await instance.dispose()
    }
    try {
      return { tool: { ...(await complete(instance, { ...facts, name }, convert)), name }, dispose }
    } catch (error) {
      await dispose()
      throw error
    }
  }
  const execute = async (args: unknown, ctx: ToolContext): Promise<unknown> => {
    const { tool, dispose } = await open(ctx)
    return tool.execute(args, ctx).finally(dispose)
  }
  const shell = { ...facts, description: known.displayName ?? String(name), parameters: { type: 'object' }, execute }
  return { ...convert(shell), check: (value) => ({ ok: true, value }), open }
}

interface Maker {
  known: ToolFacts
  make(ctx: SessionContext): unknown
  /** An instance for one call, disposed of afterwards. */
  owned: boolean
}

function read(given: DynamicTool | ToolFactory | ToolClass): Maker {
  if (typeof given === 'function') return { known: construct(given), make: () => construct(given), owned: true }
  if (given.factory) return { known: given, make: (ctx) => given.factory(ctx), owned: true }
  if (CALL in given) {
    const where = `tool "${given.name}"`
    throw new StelloError('INVALID_TOOL', `${where}: give the class, or { name, factory }: an instance serves one call`)
  }
  return { known: given, make: () => given, owned: false }
}

function construct(given: ToolClass): ToolFacts {
  try {
    return new given()
  } catch (error) {
    throw new StelloError('INVALID_TOOL', `tool class "${given.name}" cannot be made: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

async function complete(instance: unknown, facts: ToolFacts, convert: Convert): Promise<Tool> {
  if (!has(instance, 'getDescription')) {
    const tool = convert(instance)
    if (!tool.open) return tool
    throw new StelloError('INVALID_TOOL', `tool "${facts.name}": its factory must return an instance`)
  }
  const self = instance as unknown as DynamicTool & { [CALL]?: ToolContext }
  const [description, parameters] = await Promise.all([self.getDescription(), self.getParameters()])
  const { displayName } = Object(description) as { displayName?: string }
  const serve = (ctx: ToolContext): DynamicTool => {
    if (CALL in self) self[CALL] = ctx
    return self
  }
  const like: ToolLike = {
    ...facts,
    ...(facts.displayName === undefined && displayName !== undefined && { displayName }),
    ...(self.aliases && { aliases: self.aliases }),
    description,
    parameters,
    execute: (args, ctx) => serve(ctx).execute(args, ctx, false),
    ...(self.validate && { validate: (args, ctx) => serve(ctx).validate?.(args, ctx) }),
    ...(self.verify && { verify: (args, ctx) => serve(ctx).verify?.(args, ctx) }),
    ...(self.execute?.length >= 3 && {
      onPartial: async (args, ctx) => void (await serve(ctx).execute(args as Record<string, unknown>, ctx, true)),
    }),
  }
  return { ...convert(like), answersBy: 'channel' }
}

function has<Key extends string>(value: unknown, key: Key): value is Record<Key, (...args: never[]) => unknown> {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, key) === 'function'
}
