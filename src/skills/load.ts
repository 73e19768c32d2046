/** Reads skills from folders. Runs when an agent module is loaded, never in a session. */
import { readFile, readdir, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, relative } from 'node:path'
import { parse } from 'yaml'
import { StelloError, messageOf } from '../core/errors.ts'
import { modelProblem, readRules, scopeProblem } from '../agent/skill-rules.ts'
import type { Skill } from '../core/skill.ts'

export interface SkillProblem {
  path: string
  message: string
}

/**
 * Reads all `<dir>/<folder>/SKILL.md`, in the order of the folders' names. A broken file is reported by path as a
 * process warning and does not hide the others.
 *
 * @param dir relative to the working directory; `~` is the home directory
 * @throws StelloError INVALID_ARGUMENT when the directory cannot be read
 * @example
 * // ~/my-skills/code-review/SKILL.md:
 * // ---
 * // name: code-review
 * // description: Reviews code
 * // ---
 * // Check that …
 * const skillRouter = new SkillRouterImpl()
 * for (const skill of await loadSkillsFromDirectory('~/my-skills')) skillRouter.register(skill)
 */
export async function loadSkillsFromDirectory(dir: string): Promise<Skill[]> {
  const { skills, problems } = await loadSkills(dir)
  for (const { path, message } of problems) process.emitWarning(`${path}: ${message}`, { type: 'StelloSkillWarning' })
  return skills
}

/** Like `loadSkillsFromDirectory`, but returns the broken files as data. */
export async function loadSkills(dir: string): Promise<{ skills: Skill[]; problems: SkillProblem[] }> {
  const root = dir === '~' || dir.startsWith('~/') ? join(homedir(), dir.slice(1)) : dir
  const read: Read[] = []
  const problems: SkillProblem[] = []
  for (const folder of await foldersOf(root)) {
    const path = join(root, folder, 'SKILL.md')
    try {
      const text = await readIfThere(path)
      if (text === undefined) continue
      read.push({ folder, path, skill: { ...parseSkill(text), ...(await contentsOf(join(root, folder))) } })
    } catch (error) {
      problems.push({ path, message: messageOf(error) })
    }
  }
  const skills: Skill[] = []
  for (const one of read) {
    const taken = takenBy(one, read)
    if (taken === undefined) skills.push(one.skill)
    else problems.push({ path: one.path, message: taken })
  }
  return { skills, problems }
}

interface Read {
  folder: string
  path: string
  skill: Skill
}

/**
 * A folder that somebody adds must not take the name of a skill that is trusted. So the name belongs to the folder that has
 * it too; if there is none, to nobody.
 */
function takenBy({ folder, path, skill: { name } }: Read, all: readonly Read[]): string | undefined {
  const other = all.find((each) => each.path !== path && each.skill.name === name)
  if (!other || folder === name) return undefined
  const owner = all.find((each) => each.folder === name && each.skill.name === name)
  if (owner) return `the skill "${name}" is that of ${owner.path}`
  return `${other.path} has a skill named "${name}" too: neither is loaded`
}

async function foldersOf(root: string): Promise<string[]> {
  try {
    return (await readdir(root)).sort()
  } catch (error) {
    throw new StelloError('INVALID_ARGUMENT', `skills cannot be read from ${root}: ${messageOf(error)}`, {
      cause: error,
    })
  }
}

/** A folder without a SKILL.md, or a plain file beside the folders, is ignored. */
async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

/** The most files of a folder that a model is told. */
const FILES = 200

/** The folder, without links, and the plain files in it. Hidden files and links are left out. */
async function contentsOf(path: string): Promise<Required<Pick<Skill, 'folder' | 'files'>>> {
  const folder = await realpath(path)
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .filter((file) => file !== 'SKILL.md' && !/(?:^|\/)(?:\.|node_modules\/)/.test(file))
  return { folder, files: files.sort().slice(0, FILES) }
}

const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/

function parseSkill(text: string): Skill {
  const found = FRONT_MATTER.exec(text)
  if (!found) throw new Error('the file must begin with front matter: a line ---, name and description, a line ---')
  const header: unknown = parse(found[1] ?? '')
  const skill = {
    name: field(header, 'name'),
    description: field(header, 'description'),
    content: text.slice(found[0].length).trim(),
    ...effectsOf(header),
  }
  if (skill.content === '') throw new Error('there are no instructions below the front matter')
  return skill
}

function field(header: unknown, key: string): string {
  const value = valueOf(header, key)
  if (typeof value === 'string' && value.trim() !== '') return value.trim()
  throw new Error(`the front matter's ${key} must be text and not empty`)
}

/** A key without a value states nothing. */
function valueOf(header: unknown, key: string): unknown {
  return (typeof header === 'object' && header !== null ? Reflect.get(header, key) : undefined) ?? undefined
}

const MISSPELLED = [
  ['allowedTools', 'allowed-tools'],
  ['disallowedTools', 'disallowed-tools'],
] as const

/** What the skill changes while it is followed. A misspelled key is an error: its rule would be lost silently. */
function effectsOf(header: unknown): Pick<Skill, 'permissions' | 'scope' | 'model'> {
  for (const [written, meant] of MISSPELLED)
    if (valueOf(header, written) !== undefined) throw new Error(`the front matter's ${written} is written ${meant}`)
  const [allow, deny] = ['allowed-tools', 'disallowed-tools'].map((key) => {
    const stated = valueOf(header, key)
    return stated === undefined ? undefined : readRules(`the front matter's ${key}`, stated)
  })
  const [scope, model] = [valueOf(header, 'scope'), valueOf(header, 'model')]
  const problem = scopeProblem(scope) ?? modelProblem(model)
  if (problem !== undefined) throw new Error(`the front matter's ${problem}`)
  return {
    ...((allow ?? deny) && { permissions: { ...(allow && { allow }), ...(deny && { deny }) } }),
    ...(scope !== undefined && { scope: scope as NonNullable<Skill['scope']> }),
    ...(model !== undefined && { model: model as string }),
  }
}
