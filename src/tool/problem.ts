/** Validation problems as text a model can act on: each names the field, what was expected and what came. */
import type { ErrorObject } from 'ajv'
import { preview } from '../core/message.ts'
import type { StandardIssue } from './standard-schema.ts'

interface Issue {
  path: readonly PropertyKey[]
  expected: string
}

/** How many problems are shown: more would hide the first ones. */
const SHOWN = 20

/** @param toIssue is called only for those that are shown: a list of a million items may have a million problems */
export function describeIssues<Given>(
  issues: readonly Given[],
  toIssue: (given: Given) => Issue,
  args: unknown,
): string {
  const lines = issues.slice(0, SHOWN).map((given) => {
    const { path, expected } = toIssue(given)
    const field = path.length === 0 ? 'arguments' : path.map(String).join('.')
    return `- ${field}: ${expected}; got ${show(valueAt(args, path))}`
  })
  if (issues.length > SHOWN) lines.push(`- and ${issues.length - SHOWN} more`)
  return lines.join('\n')
}

export function fromStandardIssue(issue: StandardIssue): Issue {
  const path = (issue.path ?? []).map((step) => (typeof step === 'object' ? step.key : step))
  return { path, expected: expectation(issue) }
}

/** For a union, Zod says only "Invalid input". What each alternative wanted is in `errors`. */
function expectation(issue: StandardIssue & { errors?: unknown }): string {
  if (!Array.isArray(issue.errors) || issue.errors.length === 0) return issue.message
  const alternatives = (issue.errors as StandardIssue[][]).map((each) =>
    each
      .map(fromStandardIssue)
      .map(({ path, expected }) => [...path.map(String), expected].join(' '))
      .join(', '),
  )
  return `matches no alternative (${alternatives.join(' | ')})`
}

export function fromAjvError(error: ErrorObject): Issue {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  const { missingProperty, allowedValues, allowedValue } = error.params as Record<string, unknown>
  if (typeof missingProperty === 'string') return { path: [...path, missingProperty], expected: 'is required' }
  const values = allowedValues ?? allowedValue
  return {
    path,
    expected: `${error.message ?? error.keyword}${values === undefined ? '' : ` ${JSON.stringify(values)}`}`,
  }
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (node, key) =>
      typeof node === 'object' && node !== null && Object.hasOwn(node, key) ? Reflect.get(node, key) : undefined,
    value,
  )
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : preview(JSON.stringify(value), 100)
}
