/** How often a tree is looked at. */
import { expect, it } from 'vitest'
import { isMoving, lookAgainMs } from '../../../src/cli/output/look-pace.ts'
import type { SessionTree } from '../../../src/client/index.ts'

it('a small tree once a second; a large one so that looking takes little of the time, less while nothing moves', () => {
  expect(lookAgainMs(5, 'still')).toBe(1000)
  expect(lookAgainMs(5, 'moving')).toBe(1000)
  expect(lookAgainMs(800, 'moving')).toBe(4000)
  expect(lookAgainMs(800, 'still')).toBe(16_000)
})

it('news lead to a look soon, but many of them to no look right behind the other', () => {
  expect(lookAgainMs(5, 'news')).toBe(5)
  expect(lookAgainMs(800, 'news')).toBe(800)
})

it('a tree moves while any of its sessions does', () => {
  const tree = (state: string, ...children: SessionTree[]): SessionTree => ({ state, children }) as SessionTree
  expect(isMoving(tree('idle', tree('closed'), tree('paused')))).toBe(false)
  expect(isMoving(tree('idle', tree('idle', tree('waiting'))))).toBe(true)
})
