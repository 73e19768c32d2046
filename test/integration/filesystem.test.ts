/**
 * The file tools in sessions: each session has a folder, the transcript knows what was read, and an edit happens once.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { filesystem } from '../../src/capabilities/index.ts'
import { defineProfile } from '../../src/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { obedient, results } from '../seeds/obedient.ts'
import { useStello } from '../support/session-fixture.ts'

const stello = useStello()

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stello-sessions-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

/** An agent whose sessions have a folder each below `base`. */
function coder(base: string) {
  return defineProfile({
    id: `coder-${process.pid}-${base.slice(-6)}`,
    agent: { model: scriptedModel(obedient) },
    capabilities: [filesystem({ sandboxManager: { root: ({ sessionId }) => join(base, sessionId) } })],
  })
}

it('each session works in its own folder, also with another worker, and reaches no other folder', async () => {
  const base = await newFolder()
  const agent = coder(base)
  const worker = await stello.serve(agent)
  const session = await stello.client.createSession({ agent: agent.name })
  const other = await stello.client.createSession({ agent: agent.name })
  await mkdir(join(base, session.id))
  await writeFile(join(base, session.id, 'a.txt'), 'one\ntwo\n')

  const edit = { name: 'Edit', arguments: { file_path: 'a.txt', old_string: 'two', new_string: '2' } }
  expect(await results(session, edit)).toEqual(['File has not been read yet. Read it first.'])
  expect(await results(session, { name: 'Read', arguments: { file_path: 'a.txt' } })).toEqual([
    expect.stringMatching(/^ {5}1→one\n {5}2→two\n\[a\.txt: lines 1-2 of 2, version \w+\]$/),
  ])
  await worker.stop()
  await stello.serve(coder(base))
  expect(await results(session, edit)).toEqual([expect.stringContaining('has been updated')])
  expect(await readFile(join(base, session.id, 'a.txt'), 'utf8')).toBe('one\n2\n')
  expect(await results(session, { name: 'Glob', arguments: { pattern: '**' } })).toEqual(['a.txt'])

  expect(await results(other, { name: 'Glob', arguments: { pattern: '**' } })).toEqual(['No files found.'])
  const outside = { file_path: `../${session.id}/a.txt` }
  expect(await results(other, { name: 'Read', arguments: outside })).toEqual([expect.stringContaining('outside of')])
  expect(await results(other, { name: 'Write', arguments: { file_path: 'b/c.txt', content: 'new' } })).toEqual([
    expect.stringContaining('has been written'),
  ])
  expect(await readFile(join(base, other.id, 'b/c.txt'), 'utf8')).toBe('new')
})
