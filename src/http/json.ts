/** What a value is after it has crossed HTTP as JSON: a `Date` has become text in ISO 8601. */
export type Json<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Json<Item>[]
    : T extends object
      ? { [Key in keyof T]: Json<T[Key]> }
      : T
