/** Packs are opened before a worker asks for work, and closed whatever happened to the worker. */
import { expect, it } from 'vitest'
import type { CapabilityPack } from '../../../src/agent/capability-pack.ts'
import { OpenedParts } from '../../../src/worker/opened-parts.ts'
import { openPacks } from '../../../src/worker/open-packs.ts'

function story(): {
  told: string[]
  closing: OpenedParts
  pack(name: string, more?: Partial<CapabilityPack>): CapabilityPack
} {
  const told: string[] = []
  const tell = (what: string) => (): void => void told.push(what)
  return {
    told,
    closing: new OpenedParts({ warn: (message) => void told.push(message) }),
    pack: (name, more) => ({ name, tools: [], open: tell(`open ${name}`), close: tell(`close ${name}`), ...more }),
  }
}

it('opens each once and in order, and closes them the other way round', async () => {
  const { told, closing, pack } = story()
  const [a, b] = [pack('a'), pack('b')]
  await openPacks([a, b, a], closing)
  await closing.run()
  expect(told).toEqual(['open a', 'open b', 'close b', 'close a'])
})

it('names the pack that cannot be opened; earlier ones are closed, and this one is not', async () => {
  const { told, closing, pack } = story()
  const broken = pack('b', { open: () => Promise.reject(new Error('no server')) })
  await expect(openPacks([pack('a'), broken, pack('c')], closing)).rejects.toMatchObject({
    code: 'TOOLS_UNAVAILABLE',
    message: 'pack "b" cannot be opened: no server',
  })
  await closing.run()
  expect(told).toEqual(['open a', 'close a'])
})

it('waits for none for ever, neither to open nor to close', async () => {
  const { told, closing, pack } = story()
  const never = (): Promise<void> => new Promise(() => undefined)
  const limits = { openMs: 20, closeMs: 20 }
  await expect(openPacks([pack('a', { open: never })], closing, limits)).rejects.toThrow('did not end within 0.02 s')
  await openPacks([pack('b'), pack('c', { close: never })], closing, limits)
  await closing.run()
  expect(told).toEqual(['open b', 'open c', 'pack "c" was not closed: it did not end within 0.02 s', 'close b'])
})
