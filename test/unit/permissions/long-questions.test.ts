/** A question about a call that touches much says how much it leaves out. */
import { expect, it } from 'vitest'
import { questionText } from '../../../src/activities/tool/permission-texts.ts'
import { PENDING } from '../../../src/protocol/pending.ts'
import type { Touch } from '../../../src/tool/touch.ts'

it('says how many touches it does not show, however long the others are', () => {
  const touches = Array.from({ length: 25 }, (_, i): Touch => ({ kind: 'write', path: `/${'x'.repeat(300)}${i}` }))
  const parts = touches.map((touch) => ({ tool: 'Bash', touch }))
  const text = questionText({ tool: 'Bash', kind: 'execute', touches }, { decision: 'ask', parts })
  expect(PENDING.approval.message('Bash', text)).toContain('and 15 more')
})
