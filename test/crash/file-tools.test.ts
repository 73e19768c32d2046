/**
 * A worker gets SIGKILL around an edit of a file. The file is changed once, and the model is told only what is known.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import type { TurnHandle } from '../../src/client/index.ts'
import { replyBy, type FullReply } from '../../src/testing/index.ts'
import { useCrashStage } from '../support/crash-stage.ts'
import type { HeldStep, LedgerHold } from '../support/ledger-holds.ts'

const edits = (...changes: [old_string: string, new_string: string][]): FullReply => ({
  toolCalls: changes.map(([old_string, new_string]) => ({
    name: 'Edit',
    arguments: { file_path: 'a.txt', old_string, new_string },
  })),
})

const stage = useCrashStage({
  script: replyBy([
    ['look', { toolCalls: [{ name: 'Read', arguments: { file_path: 'a.txt' } }] }],
    ['replace', edits(['two', '2'])],
    ['extend', edits(['two', 'two, two'])],
    ['both', edits(['two', 'two, two'], ['one', '1'])],
    ['write', { toolCalls: [{ name: 'Write', arguments: { file_path: 'a.txt', content: 'new' } }] }],
    [() => true, ({ messages }) => `read: ${messages.at(-1)?.content}`],
  ]),
})

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stello-files-'))
  await writeFile(join(folder, 'a.txt'), 'one two three')
  return async () => {
    await stage.killWorkers()
    await rm(folder, { recursive: true })
  }
})

/** A turn whose worker is dead. It was killed where it claimed or settled its tool. */
async function caught(word: string, moment: HeldStep['moment']): Promise<{ turn: TurnHandle; hold: LedgerHold }> {
  const first = await stage.startWorker({ folder })
  const session = await stage.session()
  await (await session.send('look')).result()
  const hold = await stage.holds.hold({ session: session.id, step: 't2.0.0', moment })
  const turn = await session.send(word)
  await hold.reached()
  await first.kill()
  return { turn, hold }
}

const file = (): Promise<string> => readFile(join(folder, 'a.txt'), 'utf8')

it.each([
  [
    'an edit that was made, but not stored, is found in the file',
    'replace',
    'one 2 three',
    /^read: The file a\.txt holds the new text\.\n\[a\.txt: 1 lines, version /,
  ],
  [
    'an edit whose new text holds the old one is known by the version that was read before',
    'extend',
    'one two, two three',
    /^read: The file a\.txt holds the new text\./,
  ],
  [
    'a file that was written, but not stored as such, is written again',
    'write',
    'new',
    /^read: .*a\.txt has been written/,
  ],
])('%s', async (_what, word, changed, read) => {
  const { turn, hold } = await caught(word, 'settle')
  await hold.drop()
  expect(await file()).toBe(changed)
  await stage.startWorker({ folder })
  expect((await turn.result()).text).toMatch(read)
  expect(await file()).toBe(changed)
})

it('two edits of one file in one round: the second begins when it is known that the first one was made', async () => {
  const { turn, hold } = await caught('both', 'settle')
  await hold.drop()
  expect(await file()).toBe('one two, two three')
  await stage.startWorker({ folder })
  expect((await turn.result()).text).toMatch(/^read: The file a\.txt has been updated/)
  expect(await file()).toBe('1 two, two three')
})

it('an edit that was only claimed is made once', async () => {
  const { turn, hold } = await caught('replace', 'claim')
  await hold.letThrough()
  expect(await file()).toBe('one two three')
  await stage.startWorker({ folder })
  expect((await turn.result()).text).toMatch(/^read: The file a\.txt has been updated/)
  expect(await file()).toBe('one 2 three')
})
