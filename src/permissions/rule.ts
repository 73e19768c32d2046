/**
 * One permission rule: `Tool` speaks of every call of a tool, `Tool(spec)` of the parts of calls that the spec names.
 * `mcp__server`, or `mcp__server__*`, speaks of all tools of an MCP server, and of every call that names the server.
 */
import { StelloError } from '../core/errors.ts'
import type { Touch } from '../tool/touch.ts'
import { matchCommand } from './match-command.ts'
import { pathMatcher, pathProblem, type PathMatcher } from './match-path.ts'
import { matchUrl } from './match-url.ts'
import type { Doubt, Part } from './part.ts'

export interface Rule {
  /** The rule as it was written. */
  text: string
  /** The tool, or the server, that it names. */
  tool: string
  /** Unset: it speaks of whole calls. */
  spec?: string
  /** Where it comes from, if not from an agent, a profile or a person: `skill review`. */
  from?: string
  matches(part: Part, doubt: Doubt): boolean
}

const FORM = /^([A-Za-z0-9_-]{1,64})(?:\(([^]+)\))?$/
const LONGEST = 2000
/** Names all tools of an MCP server. */
const SERVER = /^mcp__(?:(?!__).)+$/
/** The same, as it is often written. */
const ALL_OF_SERVER = /^(mcp__(?:(?!__)[A-Za-z0-9_-])+)__\*$/
/** Rules that speak of what any tool reads or writes. */
const OF_ALL: Readonly<Record<string, Touch['kind']>> = { Read: 'read', Edit: 'write' }

/** What is wrong with a rule. */
export function ruleProblem(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > LONGEST) return `a rule is a text of at most ${LONGEST} characters`
  const form = formOf(text)
  const spec = form?.[2]?.trim()
  if (/^[\w-]*\*/.test(text) && !form)
    return `"${text}": only mcp__server__* may hold a *, for all tools of that MCP server`
  if (!form || spec === '')
    return `"${text}" is no rule: write Tool or Tool(spec), e.g. Read, Bash(git log:*), Edit(src/**), WebFetch(domain:example.com)`
  if (spec?.startsWith('!')) return `"${text}": a pattern cannot be negated; state another rule`
  if (spec?.startsWith('#')) return `"${text}": a pattern that begins with # is a comment; write \\\\#`
  if (spec?.startsWith('~')) return `"${text}": ~ is no folder here; write //absolute/path`
  const problem = spec === undefined ? undefined : pathProblem(spec)
  return problem && `"${text}": ${problem}`
}

/** @throws StelloError INVALID_ARGUMENT */
export function toRule(text: string): Rule {
  const problem = ruleProblem(text)
  if (problem !== undefined) throw new StelloError('INVALID_ARGUMENT', `permissions: ${problem}`)
  const [, tool = '', given] = formOf(text) ?? []
  const spec = given?.trim()
  if (spec === undefined) return { text, tool, matches: (part) => isOf(tool, part.tool) || isServer(tool, part.touch) }
  const matchPath = pathMatcher(spec)
  return {
    text,
    tool,
    spec,
    matches: ({ tool: called, touch, root }, doubt) =>
      touch !== undefined && speaksOf(tool, called, touch) && fits({ spec, matchPath, touch, root }, doubt),
  }
}

function formOf(text: string): RegExpExecArray | null {
  return FORM.exec(text.replace(ALL_OF_SERVER, '$1'))
}

function isServer(tool: string, touch: Touch | undefined): boolean {
  return touch?.kind === 'server' && tool === `mcp__${touch.server}`
}

/** Whether a rule that names `tool` is about the tool that is called. */
export function isOf(tool: string, called: string): boolean {
  return called === tool || (SERVER.test(tool) && called.startsWith(`${tool}__`))
}

function speaksOf(tool: string, called: string, touch: Touch): boolean {
  return isOf(tool, called) || (Object.hasOwn(OF_ALL, tool) && OF_ALL[tool] === touch.kind)
}

interface Fitting {
  spec: string
  matchPath: PathMatcher
  touch: Touch
  root: string | undefined
}

function fits({ spec, matchPath, touch, root }: Fitting, doubt: Doubt): boolean {
  switch (touch.kind) {
    case 'read':
    case 'write':
      return matchPath(touch.path, root, doubt)
    case 'command':
      return matchCommand(spec, touch, doubt)
    case 'url':
      return matchUrl(spec, touch.url, doubt)
    case 'server':
    case 'unknown':
      return false
  }
}
