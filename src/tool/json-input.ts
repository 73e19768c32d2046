/**
 * The type of what a JSON Schema accepts, when the schema is written in place. A part that it cannot read is `unknown`.
 */

/** The type of the input. A schema that is not written in place has lost its literal words: its input is any object. */
export type JsonInput<Schema> = Schema extends { properties: infer Fields }
  ? Schema extends { required: readonly (infer Name)[] }
    ? string extends Name
      ? Record<string, unknown>
      : FieldsOf<Fields, Name>
    : FieldsOf<Fields, never>
  : Record<string, unknown>

type FieldsOf<Fields, Required> = Flat<
  { -readonly [Name in keyof Fields as Name extends Required ? Name : never]: ValueOf<Fields[Name]> } & {
    -readonly [Name in keyof Fields as Name extends Required ? never : Name]?: ValueOf<Fields[Name]>
  }
>

/** One object type instead of two, for what editors show. */
type Flat<Fields> = { [Name in keyof Fields]: Fields[Name] }

type ValueOf<Schema> = Schema extends { const: infer Value }
  ? Value
  : Schema extends { enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { type: readonly (infer Type)[] }
      ? OfType<Schema, Type>
      : Schema extends { type: infer Type }
        ? OfType<Schema, Type>
        : unknown

type OfType<Schema, Type> = Type extends keyof Scalars
  ? Scalars[Type]
  : Type extends 'array'
    ? (Schema extends { items: infer Item } ? ValueOf<Item> : unknown)[]
    : Type extends 'object'
      ? JsonInput<Schema>
      : unknown

interface Scalars {
  string: string
  number: number
  integer: number
  boolean: boolean
  null: null
}
