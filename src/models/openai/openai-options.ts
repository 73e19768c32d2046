/** The options of a model of OpenAI or of an OpenAI-compatible server, and the check of these options. */
import { StelloError } from '../../core/errors.ts'
import { isObject } from '../../core/is-object.ts'
import type { ModelWaitOptions } from '../model-waits.ts'
import type { Prices } from '../prices.ts'
import { CACHE_KEY_LIMIT } from './cache-key.ts'

/** How much a model thinks before it answers, and what is shown of it. */
export interface ReasoningOptions {
  /** Not every model knows every one of these words. Default: the model's own. */
  effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'
  /** Asks for summaries of the reasoning. They stream as `reasoning.delta`. Responses API only. Default: none. */
  summary?: 'auto' | 'concise' | 'detailed'
}

/** Which model to call, where and how. */
export interface OpenAIOptions extends ModelWaitOptions {
  /** The provider's name for the model. */
  model: string
  /** Default: `OPENAI_BASE_URL`, else OpenAI. The variables of base URL and key are read when the model is called. */
  baseURL?: string
  /** Default: `OPENAI_API_KEY`. With a base URL of your own, the key may be missing. */
  apiKey?: string
  /** Shown to people. Default: `model`. */
  name?: string
  /** Default: `responses` at OpenAI itself, `chat` (chat completions) at every other base URL. */
  api?: 'responses' | 'chat'
  /** 0 to 2. Default: the provider's. OpenAI's reasoning models refuse it. */
  temperature?: number
  /** Limit of one answer in tokens, those of its reasoning included. */
  maxTokens?: number
  /** How much it thinks. */
  reasoning?: ReasoningOptions
  /** How long the answers are. Default: the model's own. */
  verbosity?: 'low' | 'medium' | 'high'
  /** How the request is served and billed. Default: the setting of the project at OpenAI. */
  serviceTier?: 'auto' | 'default' | 'flex' | 'scale' | 'priority'
  /**
   * Requests with the same key find each other's prompt in the provider's cache. At most 64 characters. Default at
   * OpenAI and with the Responses API: the root of the session's tree, so forks share it. Otherwise the default is no
   * key.
   */
  promptCacheKey?: string
  /** Whether one answer may call several tools. Default: the provider's. */
  parallelToolCalls?: boolean
  /** More fields of the request, as the provider names them. They come last and replace fields of the same name. */
  extraBody?: Record<string, unknown>
  /**
   * HTTP headers of each request. Their values are cut from errors. Values of `authorization`, `…-key` and the like are
   * cut from everything the worker tells.
   */
  headers?: Record<string, string>
  /** The organization that OpenAI bills. Default: `OPENAI_ORG_ID`. */
  organization?: string
  /** The project at OpenAI that the requests belong to. Default: `OPENAI_PROJECT_ID`. */
  project?: string
  /** For `usage.costUsd`: US dollars per million tokens. */
  prices?: Prices
}

/** What a value must be, and the words that say so in an error. */
type Check = readonly [is: (value: unknown) => boolean, expected: string]

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
const oneOf = (...words: string[]): Check => [
  (value) => words.includes(value as string),
  `one of ${words.map((word) => `'${word}'`).join(', ')}`,
]
const TEXT: Check = [isText, 'text']
const FLAG: Check = [(value) => typeof value === 'boolean', 'true or false']
const OBJECT: Check = [isObject, 'an object']
/** A blank text counts as none: it often comes from the environment. */
const MAYBE_BLANK: Check = [(value) => typeof value === 'string', 'text']
const PRICE: Check = [(value) => isNumber(value) && value >= 0, 'US dollars per million tokens, 0 or more']

const CHECKS: Record<Exclude<keyof OpenAIOptions, keyof ModelWaitOptions>, Check> = {
  model: TEXT,
  baseURL: MAYBE_BLANK,
  apiKey: MAYBE_BLANK,
  name: TEXT,
  api: oneOf('responses', 'chat'),
  temperature: [(value) => isNumber(value) && value >= 0 && value <= 2, 'a number from 0 to 2'],
  maxTokens: [(value) => Number.isInteger(value) && (value as number) > 0, 'a whole number of tokens, 1 or more'],
  reasoning: OBJECT,
  verbosity: oneOf('low', 'medium', 'high'),
  serviceTier: oneOf('auto', 'default', 'flex', 'scale', 'priority'),
  promptCacheKey: [
    (value) => isText(value) && (value as string).length <= CACHE_KEY_LIMIT,
    `text of at most ${CACHE_KEY_LIMIT} characters`,
  ],
  parallelToolCalls: FLAG,
  extraBody: OBJECT,
  headers: [
    (value) => isObject(value) && Object.values(value).every((each) => typeof each === 'string'),
    'texts by name',
  ],
  organization: TEXT,
  project: TEXT,
  prices: OBJECT,
}
const REASONING: Record<keyof ReasoningOptions, Check> = {
  effort: oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
  summary: oneOf('auto', 'concise', 'detailed'),
}
const PRICES: Record<keyof Prices, Check> = { input: PRICE, output: PRICE, cachedInput: PRICE, cacheWrite: PRICE }
const ELSEWHERE: readonly string[] = ['timeout', 'idleTimeout', 'retryFor'] satisfies (keyof ModelWaitOptions)[]

/**
 * @param title the provider's name in errors
 * @throws StelloError INVALID_ARGUMENT naming the option
 */
export function checkOptions(options: OpenAIOptions, title: string): void {
  if (!isObject(options) || !isText(options.model)) {
    throw new StelloError('INVALID_ARGUMENT', `a model of ${title} needs its name`, { hint: "pass { model: '…' }" })
  }
  const { model, reasoning, prices } = options
  check(options as unknown as Record<string, unknown>, `model ${model}: `, { checks: CHECKS, others: ELSEWHERE })
  check({ ...reasoning }, `model ${model}: reasoning.`, { checks: REASONING })
  check({ ...prices }, `model ${model}: prices.`, { checks: PRICES })
}

/** The options that there are. */
interface Known {
  checks: Readonly<Record<string, Check>>
  /** Options that are checked elsewhere. */
  others?: readonly string[]
}

function check(options: Readonly<Record<string, unknown>>, where: string, { checks, others = [] }: Known): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || others.includes(name)) continue
    const known = Object.hasOwn(checks, name) ? checks[name] : undefined
    if (!known) {
      throw new StelloError('INVALID_ARGUMENT', `${where}${name} is no option`, {
        hint: `the options are ${[...Object.keys(checks), ...others].join(', ')}; what the provider alone knows goes into extraBody`,
      })
    }
    const [is, expected] = known
    if (!is(value))
      throw new StelloError('INVALID_ARGUMENT', `${where}${name} must be ${expected}, not ${shown(value)}`)
  }
}

function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value.slice(0, 50)}'`
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
