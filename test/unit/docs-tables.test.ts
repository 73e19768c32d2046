/** Tables of the documents that repeat a table of the code agree with it. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ERROR_CODES, PAUSE_REASONS, fateOf, reasonOf } from '../../src/core/errors.ts'
import { CHAT_KEYS } from '../../src/cli/chat/chat-keys.ts'
import { SLASH_COMMANDS, type SlashCommand } from '../../src/cli/chat/slash-commands.ts'
import {
  FileSystemMemoryStore,
  MemoryManager,
  browser,
  filesystem,
  memory,
  agents,
  people,
  planning,
  shell,
  skills,
  subagents,
  tasks,
  web,
} from '../../src/capabilities/index.ts'
import { PENDING_KINDS, decisionsOf, wordOf } from '../../src/protocol/pending.ts'
import { rowsBelow } from '../support/doc-tables.ts'

const byName = <Row extends { name?: string | undefined }>(rows: Row[]): Row[] =>
  rows.toSorted((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1))
const quoted = (cell = ''): string[] => Array.from(cell.matchAll(/`([\w-]+)`/g), ([, word]) => word ?? '')

it('what a person may be asked, and which words answer', () => {
  const documented = rowsBelow('cli.md', '| kind | question |').map(([kind, , decisions, texts]) => {
    return { kind: quoted(kind), decisions: quoted(decisions), texts }
  })
  const known = PENDING_KINDS.map((kind) => {
    const withText = decisionsOf(kind).flatMap((decision) => {
      const text = wordOf(kind, decision)?.text
      return text === undefined ? [] : [`\`${decision}\`: ${text}`]
    })
    return { kind: [kind], decisions: decisionsOf(kind), texts: withText.join('; ') }
  })
  expect(documented).toEqual(known)
})

it('every key and every slash command of the chat', () => {
  expect(rowsBelow('chat.md', '| keys ')).toEqual(CHAT_KEYS.map(({ keys, means }) => [keys, means]))
  const commands = SLASH_COMMANDS.map(({ name, means, takes }: SlashCommand) => [
    `\`/${[name, takes].filter(Boolean).join(' ')}\``,
    means,
  ])
  expect(rowsBelow('chat.md', '| command ')).toEqual(commands)
})

it('every error code, with its fate and why it pauses a session', () => {
  const documented = rowsBelow('architecture.md', '| fate | reason').flatMap(([fate, reason, codes]) =>
    quoted(codes).map((code) => [code, ...quoted(fate), ...quoted(reason)].join(' ')),
  )
  const known = ERROR_CODES.map((code) => [code, fateOf(code), reasonOf(code).reason].join(' '))
  expect(documented.toSorted()).toEqual(known.toSorted())
})

it('every error code, and every reason of a pause except the unused one, with what helps', () => {
  const page = readFileSync(new URL('../../docs/troubleshooting.md', import.meta.url), 'utf8')
  expect(ERROR_CODES.filter((code) => !page.includes(`\`${code}\``))).toEqual([])
  expect(PAUSE_REASONS.filter((reason) => !page.includes(`paused (${reason})`))).toEqual(['budget'])
})

it('every tool of a pack, with its parameters, its kind and its effect', () => {
  const packs = {
    filesystem: filesystem({ sandboxManager: { root: '/srv/work' } }),
    shell: shell({ sandboxManager: { root: '/srv/work' } }),
    web: web({ searchProvider: { name: 'ours', search: async () => [] } }),
    browser: browser(),
    subagents: subagents({ withShell: true }),
    agents: agents(),
    planning: planning(),
    tasks: tasks(),
    people: people(),
    skills: skills(),
    memory: memory({ memoryManager: new MemoryManager(new FileSystemMemoryStore('/srv/memories')) }),
  }
  const known = Object.entries(packs).flatMap(([pack, { tools }]) =>
    tools.map(({ name, parameters: { properties, required }, kind, effect }) => {
      const needed = (required ?? []) as string[]
      const parameters = Object.keys(properties ?? {}).map((key) => (needed.includes(key) ? key : `${key}?`))
      return { name, pack, parameters: parameters.map((key) => `\`${key}\``).join(', '), is: `${kind}, ${effect}` }
    }),
  )
  const documented = rowsBelow('tools.md', '| tool | pack |').map(([name, pack, parameters, is]) => {
    return { name: quoted(name)[0], pack: quoted(pack)[0], parameters, is }
  })
  expect(byName(documented)).toEqual(byName(known))
})
