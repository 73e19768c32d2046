/**
 * `STELLO_SEED` makes every property test try the same cases again. When a property fails, fast-check prints its seed.
 * CI sets the variable, so that a failure comes from the change and not from other random cases. Everywhere else, each
 * run tries other cases.
 */
import fc from 'fast-check'

const seed = process.env['STELLO_SEED']
if (seed !== undefined) {
  if (!/^-?\d+$/.test(seed)) throw new Error(`STELLO_SEED is "${seed}", and must be a whole number`)
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) })
}
