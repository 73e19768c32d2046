/**
 * A workspace: each tree of sessions has a folder on one host, that of the worker that first needs it. All its calls of
 * file and shell tools run there.
 *
 * Try it: `stello dev examples/features/workspace.ts`, then `stello start clerk --message "Write a note" --wait`.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { filesystem, workspaceRoot, workspaces } from 'stello-temporal/capabilities'
import { createStelloAgent, type StelloAgent } from 'stello-temporal'
import { modelOr } from './model-or.ts'

const agent: StelloAgent = createStelloAgent({
  name: 'clerk',
  llm: modelOr(
    ['Write', { toolCalls: [{ name: 'Write', arguments: { file_path: 'note.txt', content: 'Buy tea.\n' } }] }],
    [{ tool: 'Write' }, { toolCalls: [{ name: 'Read', arguments: { file_path: 'note.txt' } }] }],
    [
      { tool: 'Read' },
      ({ messages }) => (messages.at(-1)?.content.includes('Buy tea.') ? 'It is written.' : 'It is lost.'),
    ],
  ),
  capabilities: {
    packs: [
      workspaces({ base: mkdtempSync(join(tmpdir(), 'stello-workspaces-')) }),
      filesystem({ sandboxManager: { root: workspaceRoot() } }),
    ],
  },
})

export default agent
