/**
 * `STELLO_SEED` makes every property try the same cases again: those of a run that failed, whose seed fast-check prints. CI
 * sets it, so that it judges the change and not the luck. Everywhere else each run tries other cases.
 */
import fc from 'fast-check'

const seed = process.env['STELLO_SEED']
if (seed !== undefined) {
  if (!/^-?\d+$/.test(seed)) throw new Error(`STELLO_SEED is "${seed}", and must be a whole number`)
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) })
}
