import { expect, it } from 'vitest'
import type { Input } from '../../../src/session/inputs.ts'
import { asks, message, only, opened, play, result, tool } from './play.ts'

const known = (...inputs: Input[]): (number | undefined)[] =>
  only(play(opened(), message('a'), asks(1, 0, 2, 'Read', 'Read'), ...inputs).commands, 'callTool').map(
    ({ input }) => input.workspace,
  )

it('each call carries the latest generation of the working folder that a call before it has told', () => {
  const [second, third] = [tool(1, 0, 0, result({ workspace: 2 })), tool(1, 0, 1, result({ workspace: 3 }))]
  expect(known()).toEqual([undefined, undefined])
  expect(known(second, third, asks(1, 1, 5, 'Read'))).toEqual([undefined, undefined, 3])
  // The results of one round come in any order.
  const [late, early] = [tool(1, 0, 0, result({ workspace: 3 })), tool(1, 0, 1, result({ workspace: 2 }))]
  expect(known(late, early, asks(1, 1, 5, 'Read'))).toEqual([undefined, undefined, 3])
  expect(known(late, tool(1, 0, 1), asks(1, 1, 5, 'Read'))).toEqual([undefined, undefined, 3])
})
