/** Reads an option that is a whole number, 0 or more. */
import { InvalidArgumentError } from 'commander'

export function wholeNumber(value: string): number {
  const parsed = Number(value)
  if (Number.isInteger(parsed) && parsed >= 0) return parsed
  throw new InvalidArgumentError('It must be a whole number.')
}
