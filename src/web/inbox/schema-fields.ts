/** The fields of a question's form, where its schema is plain enough for fields. Pure. */
import type { JsonSchema } from '../../core/model.ts'

/** One field. `choices`: one of these and nothing else. */
export interface FormField {
  name: string
  title: string
  type: 'text' | 'number' | 'yes-no' | 'choice'
  required: boolean
  description?: string
  choices?: readonly string[]
}

/**
 * @returns undefined when the schema needs more than fields: the values are then typed as JSON
 * @example schemaFields({ type: 'object', properties: { age: { type: 'integer' } } }) // [{ name: 'age', type: 'number', … }]
 */
export function schemaFields(schema: JsonSchema): FormField[] | undefined {
  const { properties, required } = schema as { properties?: Record<string, Property>; required?: readonly string[] }
  if (!properties || Object.keys(properties).length === 0) return undefined
  const fields = Object.entries(properties).map(([name, property]) =>
    toField(name, property, required?.includes(name) ?? false),
  )
  return fields.every((field) => field !== undefined) ? fields : undefined
}

/** What the fields hold, as values; an empty field that is not required is left out. */
export function fieldValues(
  fields: readonly FormField[],
  typed: Readonly<Record<string, string>>,
): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap(({ name, type, required }): [string, unknown][] => {
      const text = typed[name] ?? ''
      if (type === 'yes-no') return [[name, text === 'true']]
      if (text === '' && !required) return []
      return [[name, type === 'number' && text !== '' ? Number(text) : text]]
    }),
  )
}

interface Property {
  type?: unknown
  title?: unknown
  description?: unknown
  enum?: readonly unknown[]
}

function toField(name: string, property: Property, required: boolean): FormField | undefined {
  const base = {
    name,
    required,
    title: typeof property.title === 'string' ? property.title : name,
    ...(typeof property.description === 'string' && { description: property.description }),
  }
  if (property.enum) {
    const choices = property.enum.filter((one) => typeof one === 'string')
    return choices.length === property.enum.length ? { ...base, type: 'choice', choices } : undefined
  }
  if (property.type === 'string') return { ...base, type: 'text' }
  if (property.type === 'number' || property.type === 'integer') return { ...base, type: 'number' }
  return property.type === 'boolean' ? { ...base, type: 'yes-no' } : undefined
}
