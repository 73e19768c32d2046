/** Skill: loads a skill, and reads the files that belong to it. It sees the skills that `activate_skill` offers. */
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { bringsRules, LOADED_SKILLS, withLoaded } from '../../agent/skill-rules.ts'
import { partOf, skillText } from '../../agent/skill-text.ts'
import { preview } from '../../core/message.ts'
import type { Skill } from '../../core/skill.ts'
import { createTool } from '../../tool/compat.ts'
import type { Tool } from '../../tool/tool.ts'
import type { Touch } from '../../tool/touch.ts'
import { isInside, realPathOf } from '../sandbox/real-path.ts'

const FILE_LIMIT = 1024 * 1024
/** The most that the model is told of the rules, in characters: it must fit into one result with the text. */
const SHOWN = 1000

interface Refused {
  success: false
  error: string
}

export function skillTool(): Tool {
  return createTool({
    name: 'Skill',
    kind: 'execute',
    effect: 'idempotent',
    ordered: true,
    description: {
      short: 'Loads the instructions of a skill, before you work on what it covers.',
      usageNotes: [
        'The skills are those that activate_skill names',
        'args: put into the instructions in place of $ARGUMENTS, $1, $2 …',
        'file: reads a file of the skill, by a name that the skill tells; offset: reads on in a long text',
      ],
    },
    aliases: { name: 'skill', command: 'skill' },
    schema: z.object({
      skill: z.string().min(1).max(200).describe('Name of the skill'),
      args: z.string().max(10_000).optional(),
      file: z.string().min(1).max(1000).optional(),
      offset: z.number().int().min(0).optional().describe('How many characters were read before'),
    }),
    touches: ({ skill: name, file }, { skills }) => touchesOf(wantedOf(name), file === undefined ? skills : []),
    async execute({ skill: name, args = '', file, offset = 0 }, { skills, values, messageId }) {
      const wanted = wantedOf(name)
      const skill = skills.find((each) => each.name === wanted)
      if (!skill) return refused(`There is no skill "${wanted}". ${listed('skills', skills)}`)
      if (file !== undefined) return readFileOf(skill, file, offset)
      if (bringsRules(skill)) values.set(LOADED_SKILLS, withLoaded(await values.get(LOADED_SKILLS), skill, messageId))
      return [skillText(skill, { args, offset }), ...effectsOf(skill)].join('\n\n')
    },
  })
}

function wantedOf(name: string): string {
  return name.replace(/^\//, '')
}

/**
 * A person who permits the call is shown what the skill would allow, and permits exactly that: each of its rules is a
 * part of the call.
 */
function touchesOf(wanted: string, skills: readonly Skill[]): Touch[] {
  const { permissions: { allow = [] } = {}, scope } = skills.find(({ name }) => name === wanted) ?? {}
  const part = (command: string, ...more: string[]): Touch => {
    return { kind: 'command', command, argv: [wanted, ...more], readonly: false }
  }
  // No word of a rule has spaces: only `name:*`, or exactly this text, matches such a part.
  const ruled = allow.map((rule) => part(`${wanted} with the rule ${rule} ${untilOf(scope)}`, 'with its rule'))
  return [part(wanted), ...ruled]
}

function untilOf(scope: Skill['scope']): string {
  return scope === 'session' ? 'in this session' : 'until this turn ends'
}

/** The text for the model about the effects of a skill. */
function effectsOf({ permissions: { allow = [], deny = [] } = {}, scope, model }: Skill): string[] {
  const rules = [
    ...(allow.length > 0 ? [`allowed without a question: ${allow.join(', ')}`] : []),
    ...(deny.length > 0 ? [`denied: ${deny.join(', ')}`] : []),
  ].join('; ')
  return [
    ...(rules
      ? [`[From your next answer on, ${untilOf(scope)}: ${preview(rules, SHOWN)}. Other rules may still ask or deny.]`]
      : []),
    ...(model === undefined ? [] : [`[It names the model ${preview(model, 100)}: a session keeps its own model.]`]),
  ]
}

/** A file that the skill does not name is not read, and a link must not lead out of the folder. */
async function readFileOf(
  { name, folder, files = [] }: Skill,
  file: string,
  offset: number,
): Promise<string | Refused> {
  if (folder === undefined || !files.includes(file)) {
    return refused(
      `The skill "${name}" has no file "${file}". ${listed(
        'files',
        files.map((each) => ({ name: each })),
      )}`,
    )
  }
  const path = await realPathOf(join(folder, file))
  if (path === undefined || !isInside(folder, path)) return refused(`${file} is no longer in the folder of the skill.`)
  const text = await readText(path)
  return typeof text === 'string' ? partOf(text, offset) : refused(`${file} ${text.problem}.`)
}

async function readText(path: string): Promise<string | { problem: string }> {
  const handle = await open(path, 'r').catch(() => undefined)
  if (!handle) return { problem: 'cannot be read on this worker' }
  try {
    const { size } = await handle.stat()
    if (size > FILE_LIMIT) return { problem: 'is larger than 1 MiB' }
    const text = await handle.readFile('utf8')
    return text.includes('\0') ? { problem: 'is no text' } : text
  } finally {
    await handle.close()
  }
}

function listed(what: string, entries: readonly { name: string }[]): string {
  return entries.length > 0 ? `Available: ${entries.map(({ name }) => name).join(', ')}.` : `There are no ${what} here.`
}

function refused(error: string): Refused {
  return { success: false, error }
}
