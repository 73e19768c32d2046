import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadSkills, loadSkillsFromDirectory } from '../../../src/skills/load.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'skills-'))
})
afterEach(() => rm(dir, { recursive: true }))

async function skill(folder: string, text: string, root = dir): Promise<void> {
  await mkdir(join(root, folder), { recursive: true })
  await writeFile(join(root, folder, 'SKILL.md'), text)
}
const good = (name: string): string =>
  `---\nname: ${name}\ndescription: |\n  Two\n  lines\n---\n\n# Do it\n\n---\nwell\n`
const stating = (...lines: string[]): string => ['---', 'name: n', 'description: d', ...lines, '---', 'x'].join('\n')

describe('loadSkillsFromDirectory', () => {
  it('reads front matter and body of every folder, by name of the folder', async () => {
    await skill('b', good('second'))
    await skill('a', `\uFEFF${good('first').replaceAll('\n', '\r\n')}`)
    const skills = await loadSkillsFromDirectory(dir)
    expect(skills.map(({ name }) => name)).toEqual(['first', 'second'])
    expect(skills[1]).toEqual({
      name: 'second',
      description: 'Two\nlines',
      content: '# Do it\n\n---\nwell',
      folder: join(dir, 'b'),
      files: [],
    })
  })

  it('skips folders without a SKILL.md and files beside the folders', async () => {
    await mkdir(join(dir, 'empty'))
    await writeFile(join(dir, 'README.md'), 'x')
    await skill('a', good('one'))
    expect(await loadSkills(dir)).toMatchObject({ skills: [{ name: 'one' }], problems: [] })
  })

  it.each([
    ['no front matter', '# Skill', 'must begin with front matter'],
    ['no name', '---\ndescription: d\n---\nx', 'name must be text'],
    ['a name that is no text', '---\nname: 1\ndescription: d\n---\nx', 'name must be text'],
    ['no instructions', '---\nname: n\ndescription: d\n---\n', 'no instructions'],
    ['broken YAML', '---\nname: [\n---\nx', 'SKILL'],
    ['allowed-tools that are no rules', stating('allowed-tools: 5'), "the front matter's allowed-tools must be rules"],
    ['a rule that does not end', stating('allowed-tools: Bash('), 'front matter\'s allowed-tools: "Bash(" is no rule'],
    [
      'a rule that is no text',
      stating('disallowed-tools: [Read, 7]'),
      "front matter's disallowed-tools: a rule is a text",
    ],
    [
      'a key in other letters',
      stating('disallowedTools: Bash'),
      "front matter's disallowedTools is written disallowed-tools",
    ],
    ['an unknown scope', stating('scope: forever'), "front matter's scope must be turn or session"],
    ['a model that is no name', stating('model: [opus]'), "front matter's model must be the name of a model"],
  ])('reports a file with %s by its path and keeps the good ones', async (_what, text, problem) => {
    await skill('a-good', good('fine'))
    await skill('broken', text)
    const { skills, problems } = await loadSkills(dir)
    expect(skills.map(({ name }) => name)).toEqual(['fine'])
    expect(problems.map(({ path }) => path)).toEqual([join(dir, 'broken', 'SKILL.md')])
    expect(`${problems[0]?.path} ${problems[0]?.message}`).toContain(problem)
  })

  it('gives a name that several folders state to the folder of that name: another one may be the stranger', async () => {
    await skill('a-stranger', good('review'))
    await skill('review', good('review'))
    const { skills, problems } = await loadSkills(dir)
    expect(skills.map(({ name, folder }) => [name, folder])).toEqual([['review', join(dir, 'review')]])
    const [stranger, own] = ['a-stranger', 'review'].map((folder) => join(dir, folder, 'SKILL.md'))
    expect(problems).toEqual([{ path: stranger, message: `the skill "review" is that of ${own}` }])
  })

  it('gives it to none of them if no folder has the name', async () => {
    await skill('a-stranger', good('review'))
    await skill('b', good('fine'))
    await skill('c', good('review'))
    const { skills, problems } = await loadSkills(dir)
    expect(skills.map(({ name }) => name)).toEqual(['fine'])
    const [stranger, other] = ['a-stranger', 'c'].map((folder) => join(dir, folder, 'SKILL.md'))
    expect(problems).toEqual([
      { path: stranger, message: `${other} has a skill named "review" too: neither is loaded` },
      { path: other, message: `${stranger} has a skill named "review" too: neither is loaded` },
    ])
  })

  it('reads what a skill allows and denies, as text or as a list, for how long, and its model', async () => {
    const read = async (...lines: string[]): Promise<object | undefined> => {
      await skill('a', stating(...lines))
      const { skills, problems } = await loadSkills(dir)
      expect(problems).toEqual([])
      const [{ permissions, scope, model } = {}] = skills
      return { permissions, scope, model }
    }
    expect(await read('allowed-tools: Bash(jq:*) Bash(git log:*), Read')).toEqual({
      permissions: { allow: ['Bash(jq:*)', 'Bash(git log:*)', 'Read'] },
    })
    expect(
      await read('allowed-tools:', '  - Read', '  - Bash(npm run test:*)', 'disallowed-tools: [Write, "Edit(.env)"]'),
    ).toEqual({ permissions: { allow: ['Read', 'Bash(npm run test:*)'], deny: ['Write', 'Edit(.env)'] } })
    expect(await read('disallowed-tools: Bash', 'scope: session', 'model: opus')).toEqual({
      permissions: { deny: ['Bash'] },
      scope: 'session',
      model: 'opus',
    })
    expect(await read('allowed-tools:', 'license: MIT')).toEqual({})
  })

  it('emits a process warning for a broken file', async () => {
    await skill('broken', 'x')
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
    expect(await loadSkillsFromDirectory(dir)).toEqual([])
    expect((await warned).message).toContain(join(dir, 'broken', 'SKILL.md'))
  })

  it('takes ~ for the home directory', async () => {
    const home = await mkdtemp(join(homedir(), '.skills-test-'))
    try {
      await skill('a', good('mine'), home)
      expect(await loadSkillsFromDirectory(`~/${basename(home)}`)).toMatchObject([{ name: 'mine' }])
    } finally {
      await rm(home, { recursive: true })
    }
  })

  it('refuses a directory that does not exist, naming it', async () => {
    await expect(loadSkillsFromDirectory(join(dir, 'gone'))).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(join(dir, 'gone')),
    })
  })
})
