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
    ['a name that is taken', good('fine'), 'named "fine" already'],
  ])('reports a file with %s by its path and keeps the good ones', async (_what, text, problem) => {
    await skill('a-good', good('fine'))
    await skill('broken', text)
    const { skills, problems } = await loadSkills(dir)
    expect(skills.map(({ name }) => name)).toEqual(['fine'])
    expect(problems.map(({ path }) => path)).toEqual([join(dir, 'broken', 'SKILL.md')])
    expect(`${problems[0]?.path} ${problems[0]?.message}`).toContain(problem)
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
