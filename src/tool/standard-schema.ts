/** Standard Schema (standardschema.dev): the interface Zod 4, ArkType, Valibot and others share. */
import type { JsonSchema } from '../core/model.ts'

export interface StandardIssue {
  message: string
  path?: ReadonlyArray<PropertyKey | { key: PropertyKey }> | undefined
}

export interface StandardResult {
  value?: unknown
  issues?: readonly StandardIssue[] | undefined
}

export interface StandardProps {
  vendor: string
  validate(value: unknown): StandardResult | Promise<StandardResult>
  jsonSchema?: { input(options: { target: string }): JsonSchema }
}

/** The `~standard` part of a schema, if it has one. ArkType's schemas are functions. */
export function standardOf(schema: unknown): StandardProps | undefined {
  if (schema === null || (typeof schema !== 'object' && typeof schema !== 'function')) return undefined
  return '~standard' in schema ? (schema['~standard'] as StandardProps) : undefined
}
