/** What a text says about an edit is never wrong. A wrong answer would make the edit twice, or not at all. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { replaceText, takenBack, wasReplaced, type Change } from '../../../src/capabilities/filesystem/replace-text.ts'

/** Few letters, so that old and new texts overlap, repeat and contain each other. */
const text = (max: number) => fc.stringMatching(new RegExp(`^[ab]{0,${max}}$`))
const change: fc.Arbitrary<Change> = fc.record({ old_string: text(3), new_string: text(3), replace_all: fc.boolean() })

function apply(before: string | undefined, made: Change): string | undefined {
  try {
    return replaceText(before, made)
  } catch {
    return undefined
  }
}

it('never says that an edit was made if it was possible and was not, and never says that a made edit was not', () => {
  let [made, unmade] = [0, 0]
  fc.assert(
    fc.property(fc.option(text(8), { nil: undefined }), change, (before, edit) => {
      const after = apply(before, edit)
      fc.pre(after !== undefined)
      expect(wasReplaced(before, edit)).not.toBe(true)
      expect(wasReplaced(after, edit)).not.toBe(false)
      if (wasReplaced(after, edit)) made++
      if (wasReplaced(before, edit) === false) unmade++
    }),
    { numRuns: 20_000 },
  )
  // It is not silent, either.
  expect(Math.min(made, unmade)).toBeGreaterThan(500)
})

it('an edit that was made can be taken back to the text before it', () => {
  fc.assert(
    fc.property(text(8), change, (before, edit) => {
      const after = apply(before, edit)
      // If there are several places, others may look as if they had been replaced too.
      fc.pre(after !== undefined && edit.old_string !== '' && !edit.replace_all)
      expect([...takenBack(after ?? '', edit)]).toContain(before)
    }),
    { numRuns: 5000 },
  )
})

it('what it calls not made can be made', () => {
  fc.assert(
    fc.property(text(8), change, (now, edit) => {
      fc.pre(edit.old_string !== edit.new_string && wasReplaced(now, edit) === false)
      expect(apply(now, edit)).toBeDefined()
    }),
    { numRuns: 5000 },
  )
})
