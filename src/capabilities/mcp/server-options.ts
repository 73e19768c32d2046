/** The settings of an agent's MCP servers, and their checks. */
import { toMs, toWaitMs, type Duration } from '../../core/duration.ts'
import { StelloError } from '../../core/errors.ts'
import { isObject } from '../../core/is-object.ts'
import type { RetrySettings } from '../../core/retries.ts'
import type { Effect, Kind, OnUnknownOutcome, SessionContext } from '../../tool/tool.ts'
import { isFromEnv, type FromEnv } from '../../core/from-env.ts'

/** Facts about a tool that the agent states, because its server's statements are only hints. */
export interface McpToolSettings {
  /** Whether a repetition does harm. Default `non_idempotent`. */
  effect?: Effect
  /** What it needs permission for. Default `execute`. */
  kind?: Kind
  /** How long one call may take. Default: the server's. */
  timeout?: Duration
  /** How often a failed call is tried, and after what wait. Default: the agent's `retries.tools`. */
  retries?: RetrySettings
  /** What to do when a worker died in the middle of a call. Default `report`. */
  onUnknownOutcome?: OnUnknownOutcome
}

/** Shared by programs and addresses. */
export interface McpServerSettings {
  /**
   * `worker`: all sessions that a worker serves share one connection. `session`: each session has one of its own, which
   * is closed after ten minutes without a call; only then the server may ask people. Default `worker`; `session` for a
   * server that is a function.
   */
  per?: 'worker' | 'session'
  /** How long one call may take. Default: the agent's `toolTimeout`. */
  timeout?: Duration
  /** By the server's own names of its tools. */
  tools?: Record<string, McpToolSettings>
  /** Sessions go on without its tools while it cannot be reached. Default false: they wait for it. */
  optional?: boolean
  /** Its questions to a person (elicitation). Only for a server of one session. */
  questions?: McpQuestionSettings
}

/** How long a server's question waits for a person, and what the server reads then. */
export interface McpQuestionSettings {
  /** How long it waits: milliseconds, or text such as `'2 days'`, at most a year. Unset: for ever. */
  expiresIn?: Duration
  /**
   * The filled form when nobody has answered by then. It counts where it fits the form that the server asks for. Unset, or
   * where it does not fit: the server reads that the person has declined.
   */
  default?: Readonly<Record<string, unknown>>
}

/** A server that a worker starts as a program and speaks to over stdin and stdout. */
export interface McpProgram extends McpServerSettings {
  /** The program: a path, or a name that PATH leads to. No shell reads it. */
  command: string
  /** Its arguments. */
  args?: readonly string[]
  /**
   * Its environment, beside HOME, LOGNAME, PATH, SHELL, TERM and USER of the worker. It gets no other variable of the
   * worker.
   */
  env?: Record<string, string | FromEnv>
  /** The folder it runs in. Default: the worker's. */
  cwd?: string
  /** Only an address has it. */
  url?: undefined
}

/** A server that is reached over streamable HTTP. */
export interface McpAddress extends McpServerSettings {
  /** Its endpoint, for example `https://tickets.example/mcp`. */
  url: string
  /** Headers of every request. */
  headers?: Record<string, string | FromEnv>
  /** Sent as `Authorization: Bearer …`. A function is asked before every request, so that it can renew the token. */
  token?: string | FromEnv | (() => string | Promise<string>)
  /** Only a program has it. */
  command?: undefined
}

/** An MCP server. */
export type McpServer = McpProgram | McpAddress

/** A server, or a function that gives each session one of its own. */
export type McpServerOf = McpServer | ((session: SessionContext) => McpServer | Promise<McpServer>)

/** Such a name stays as it is inside the name of a tool, and no two of them can make the same name. */
const NAME = /^[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*$/
const NAME_LIMIT = 32
const SETTINGS = ['per', 'timeout', 'tools', 'optional', 'questions']
const PROGRAM = ['command', 'args', 'env', 'cwd', ...SETTINGS]
const ADDRESS = ['url', 'headers', 'token', ...SETTINGS]
const OF_QUESTIONS = ['expiresIn', 'default']
const OF_TOOL = ['effect', 'kind', 'timeout', 'retries', 'onUnknownOutcome']

/** @throws StelloError INVALID_ARGUMENT naming the server and the field */
export function checkServers(servers: unknown): Map<string, McpServerOf> {
  if (!isObject(servers) || Object.keys(servers).length === 0) {
    throw invalid('servers', {
      problem: 'must be an object',
      hint: "{ files: { command: 'mcp-server-filesystem', args: ['/srv/files'] } }",
    })
  }
  for (const [name, server] of Object.entries(servers)) {
    if (!NAME.test(name) || name.length > NAME_LIMIT) {
      throw invalid(`the name ${JSON.stringify(name)}`, {
        problem: `must be at most ${NAME_LIMIT} letters, digits, "-" or single "_"`,
        hint: 'it becomes a part of the names of the tools',
      })
    }
    if (typeof server !== 'function') checkServer(name, server, true)
  }
  return new Map(Object.entries(servers)) as Map<string, McpServerOf>
}

/**
 * @param listed it is stated as it is, not made for a session, so only `per: 'session'` gives each session its own
 * @throws StelloError INVALID_ARGUMENT naming the server and the field
 */
export function checkServer(name: string, server: unknown, listed = false): McpServer {
  const where = `server "${name}"`
  const program = isObject(server) && server['command'] !== undefined
  if (!isObject(server) || program === (server['url'] !== undefined)) {
    throw invalid(where, {
      problem: 'must have either a command or a url',
      hint: "{ command: 'node', args: ['server.js'] }",
    })
  }
  const fields = program ? PROGRAM : ADDRESS
  const unknown = Object.keys(server).find((field) => server[field] !== undefined && !fields.includes(field))
  if (unknown !== undefined)
    throw invalid(`${where}.${unknown}`, { problem: 'is no setting', hint: `there are ${fields.join(', ')}` })
  const refuse = (field: string, good: boolean, complaint: Complaint): void => {
    if (server[field] !== undefined && !good) throw invalid(`${where}.${field}`, complaint)
  }
  const { command, args, cwd, url, token, per, optional, timeout, tools } = server
  refuse('command', isText(command) && command !== '', {
    problem: 'must be the name of a program',
    hint: "command: 'node'",
  })
  refuse('args', Array.isArray(args) && args.every(isText), {
    problem: 'must be a list of texts',
    hint: "args: ['server.js']",
  })
  refuse('cwd', isText(cwd), { problem: 'must be a folder', hint: "cwd: '/srv/files'" })
  refuse('url', isText(url) && /^https?:$/.test(protocolOf(url)), {
    problem: 'must be an address',
    hint: "url: 'https://…/mcp'",
  })
  const tokens = isText(token) || isFromEnv(token) || typeof token === 'function'
  refuse('token', tokens, {
    problem: 'must be a text, a reference or a function',
    hint: "token: fromEnv('TICKETS_TOKEN')",
  })
  for (const field of ['env', 'headers']) {
    const texts =
      isObject(server[field]) && Object.values(server[field]).every((each) => isText(each) || isFromEnv(each))
    refuse(field, texts, {
      problem: 'must be an object of texts or references',
      hint: `${field}: { TOKEN: fromEnv('TICKETS_TOKEN') }`,
    })
  }
  refuse('per', ['worker', 'session'].includes(String(per)), {
    problem: 'must be worker or session',
    hint: "per: 'session'",
  })
  refuse('optional', typeof optional === 'boolean', { problem: 'must be true or false', hint: 'optional: true' })
  if (timeout !== undefined) toMs(timeout as Duration, `mcp: ${where}.timeout`)
  if (server['questions'] !== undefined) checkQuestions(`${where}.questions`, server['questions'])
  refuse('questions', !listed || per === 'session', {
    problem: 'is only for a server that each session has its own of',
    hint: "per: 'session'",
  })
  refuse('tools', isObject(tools), {
    problem: 'must be an object',
    hint: "tools: { search: { effect: 'pure', kind: 'readonly' } }",
  })
  for (const [tool, settings] of Object.entries(tools ?? {})) checkTool(`${where}.tools.${tool}`, settings)
  return server as unknown as McpServer
}

/** Values are checked where the tool is made of them. */
function checkTool(where: string, settings: unknown): void {
  if (!isObject(settings))
    throw invalid(where, { problem: 'must be an object', hint: "{ effect: 'pure', kind: 'readonly' }" })
  checkFields(where, settings, OF_TOOL)
}

/** Whether a default fits is seen when the server asks. */
function checkQuestions(where: string, questions: unknown): void {
  if (!isObject(questions)) throw invalid(where, { problem: 'must be an object', hint: "{ expiresIn: '2 days' }" })
  checkFields(where, questions, OF_QUESTIONS)
  const { expiresIn, default: values } = questions
  if (expiresIn === undefined)
    throw invalid(`${where}.expiresIn`, { problem: 'is missing', hint: "expiresIn: '2 days'" })
  toWaitMs(expiresIn as Duration, `mcp: ${where}.expiresIn`)
  if (values !== undefined && !isObject(values)) {
    throw invalid(`${where}.default`, {
      problem: 'must be the values of a form',
      hint: 'default: { confirmed: false }',
    })
  }
}

function checkFields(where: string, settings: object, known: readonly string[]): void {
  const unknown = Object.keys(settings).find((field) => !known.includes(field))
  if (unknown !== undefined)
    throw invalid(`${where}.${unknown}`, { problem: 'is no setting', hint: `there are ${known.join(', ')}` })
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : ''
}

/** What is wrong with a setting, as text that follows its name, and an example of how it is right. */
interface Complaint {
  problem: string
  hint: string
}

function invalid(where: string, { problem, hint }: Complaint): StelloError {
  return new StelloError('INVALID_ARGUMENT', `mcp: ${where} ${problem}`, { hint })
}
