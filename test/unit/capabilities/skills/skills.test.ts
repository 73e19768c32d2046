/** Skill and DiscoverTools as a model meets them, over skills of real folders. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { skills } from '../../../../src/capabilities/index.ts'
import { questionText } from '../../../../src/activities/tool/permission-texts.ts'
import type { Skill } from '../../../../src/index.ts'
import { decide, type Asking, type Verdict } from '../../../../src/permissions/decide.ts'
import { toRules } from '../../../../src/permissions/rules.ts'
import { suggestRules } from '../../../../src/permissions/suggest.ts'
import { loadSkills } from '../../../../src/skills/load.ts'
import type { Tool } from '../../../../src/tool/tool.ts'
import { callToolOf } from '../call-tool-of.ts'
import { testContext } from '../test-context.ts'

async function useSkills() {
  const root = mkdtempSync(join(tmpdir(), 'stello-skills-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const folder = join(root, 'review')
  mkdirSync(join(folder, 'scripts'), { recursive: true })
  const write = (name: string, text: string | Buffer): void => writeFileSync(join(folder, name), text)
  write('SKILL.md', '---\nname: review\ndescription: Reviews\n---\nReview $1.')
  write('checklist.md', 'Names, tests, docs')
  write('scripts/count.py', 'print(1)')
  write('logo.png', Buffer.from([1, 0, 2]))
  write('.env', 'KEY=secret')
  writeFileSync(join(root, 'outside.md'), 'outside')
  symlinkSync(join(root, 'outside.md'), join(folder, 'link.md'))
  const load = async (): Promise<Skill[]> => (await loadSkills(root)).skills
  const call = callToolOf(skills(), testContext({ skills: await load() }))
  return { root, folder, write, load, skill: (args: unknown) => call('Skill', args) }
}

describe('Skill', () => {
  it('tells its folder, its files and its instructions, with the arguments in place', async () => {
    const { folder, skill } = await useSkills()
    expect(await skill({ skill: 'review', args: 'main.ts' })).toEqual({
      text: `Base directory: ${folder}\nFiles: checklist.md, logo.png, scripts/count.py\n\nReview main.ts.`,
      isError: false,
    })
  })

  it('knows a skill by the names that models write', async () => {
    const { skill } = await useSkills()
    for (const args of [{ name: 'review' }, { command: '/review' }]) {
      expect(await skill(args)).toMatchObject({ isError: false, text: expect.stringContaining('Review') })
    }
  })

  it('reads the files of a skill, long ones in parts', async () => {
    const { write, skill } = await useSkills()
    expect(await skill({ skill: 'review', file: 'scripts/count.py' })).toEqual({ text: 'print(1)', isError: false })
    write('checklist.md', 'x'.repeat(50_000))
    const first = await skill({ skill: 'review', file: 'checklist.md' })
    expect(first.text).toMatch(/x\n\[characters 0 to 45056 of 50000; read on with offset 45056\]$/)
    const last = await skill({ skill: 'review', file: 'checklist.md', offset: 45_056 })
    expect(last.text).toMatch(/^x{4944}\n\[characters 45056 to 50000 of 50000; this is the end\]$/)
  })

  it.each([
    ['../outside.md', 'has no file "../outside.md"'],
    ['/etc/passwd', 'has no file'],
    ['.env', 'has no file'],
    ['link.md', 'has no file'],
    ['SKILL.md', 'Available: checklist.md, logo.png, scripts/count.py.'],
    ['logo.png', 'is no text'],
  ])('does not read %s', async (file, why) => {
    const { skill } = await useSkills()
    expect(await skill({ skill: 'review', file })).toMatchObject({ isError: true, text: expect.stringContaining(why) })
  })

  it('does not follow a file that has become a link out of the folder, and says when a file is gone', async () => {
    const { root, folder, skill } = await useSkills()
    rmSync(join(folder, 'checklist.md'))
    expect(await skill({ skill: 'review', file: 'checklist.md' })).toMatchObject({ isError: true })
    symlinkSync(join(root, 'outside.md'), join(folder, 'checklist.md'))
    const refused = await skill({ skill: 'review', file: 'checklist.md' })
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('no longer in the folder') })
  })

  it('refuses a file that is too large', async () => {
    const { write, skill } = await useSkills()
    write('checklist.md', 'x'.repeat(1024 * 1024 + 1))
    expect(await skill({ skill: 'review', file: 'checklist.md' })).toEqual({
      text: 'checklist.md is larger than 1 MiB.',
      isError: true,
    })
  })

  it('remembers whose rules hold, tells what they are, and that a session keeps its model', async () => {
    const permissions = { allow: ['Bash(git log:*)'], deny: ['Write', 'Edit'] }
    const ctx = testContext({
      skills: [
        { name: 'review', description: 'd', content: 'Look.', permissions, model: 'opus' },
        { name: 'quiet', description: 'd', content: 'Hush.', permissions: { deny: ['Bash'] }, scope: 'session' },
        { name: 'plain', description: 'd', content: 'Go.' },
      ],
    })
    const call = callToolOf(skills(), ctx)
    expect((await call('Skill', { skill: 'review' })).text).toBe(
      'Look.\n\n[From your next answer on, until this turn ends: allowed without a question: Bash(git log:*); denied: Write, Edit. ' +
        'Other rules may still ask or deny.]\n\n[It names the model opus: a session keeps its own model.]',
    )
    expect((await call('Skill', { skill: 'quiet' })).text).toContain('on, in this session: denied: Bash.')
    expect(await call('Skill', { skill: 'plain' })).toEqual({ text: 'Go.', isError: false })
    expect(await ctx.values.get('loadedSkills')).toEqual([
      { skill: 'review', allow: ['Bash(git log:*)'], messageId: 'message-1' },
      { skill: 'quiet' },
    ])
  })

  describe('is permitted', () => {
    const ship = (...allow: string[]): Skill => ({
      name: 'ship',
      description: 'd',
      content: 'c',
      permissions: { allow },
    })
    const asking = async (skill: Skill, more: object = {}): Promise<Asking> => {
      const ctx = testContext({ skills: [skill] })
      const [tool] = skills().tools as Tool[]
      return { tool: 'Skill', kind: 'execute', touches: (await tool?.touches?.({ skill: 'ship', ...more }, ctx)) ?? [] }
    }
    const decided = (allow: string[], call: Asking, deny: string[] = []): Verdict =>
      decide({ mode: 'default', layers: [toRules({ allow, deny })] }, call)
    const always = async (skill: Skill): Promise<string[]> => suggestRules(decided([], await asking(skill)).parts)

    it('with the rules that the person was shown, and with no others', async () => {
      const [one, two] = [await asking(ship('Bash(git log:*)')), await asking(ship('Bash(git log:*)', 'Bash'))]
      expect(questionText(one, decided([], one))).toBe(
        'may "Skill" run? It would run ship; run ship with the rule Bash(git log:*) until this turn ends.',
      )
      const kept = await always(ship('Bash(git log:*)'))
      expect(kept).toEqual(['Skill(ship)', 'Skill(ship with the rule Bash(git log:*) until this turn ends)'])
      expect(decided(kept, one).decision).toBe('allow')
      const asks = decided(kept, two)
      expect(asks.decision).toBe('ask')
      expect(questionText(two, asks)).toBe(
        'may "Skill" run? It would run ship with the rule Bash until this turn ends.',
      )
      const forGood = await asking({ ...ship('Bash(git log:*)'), scope: 'session' })
      expect(decided(kept, forGood).decision).toBe('ask')
    })

    it('without any of its rules while it has none', async () => {
      const kept = await always(ship())
      expect(kept).toEqual(['Skill(ship)'])
      expect(decided(kept, await asking(ship())).decision).toBe('allow')
      expect(decided(kept, await asking(ship('Bash'))).decision).toBe('ask')
      expect(decided(kept, await asking(ship('Bash'), { file: 'a.md' })).decision).toBe('allow')
    })

    it('by the rules of the agent, by its name', async () => {
      const call = await asking(ship('Bash'))
      for (const rule of ['Skill', 'Skill(ship:*)']) expect(decided([rule], call).decision).toBe('allow')
      for (const rule of ['Skill(ship)', 'Skill(other:*)']) expect(decided([rule], call).decision).toBe('ask')
      expect(decided(['Skill'], call, ['Skill(ship)']).decision).toBe('deny')
      const other = { name: 'ship it', description: 'd', content: 'c' }
      expect(decided(['Skill(ship:*)'], await asking(other, { skill: 'ship it' })).decision).toBe('ask')
    })
  })

  it('reading a file of a skill brings no rules', async () => {
    const { folder, write, load } = await useSkills()
    write('SKILL.md', '---\nname: review\ndescription: Reviews\nallowed-tools: Bash\n---\nReview.')
    const ctx = testContext({ skills: await load() })
    const call = callToolOf(skills(), ctx)
    expect(await call('Skill', { skill: 'review', file: 'checklist.md' })).toMatchObject({ isError: false })
    expect(await ctx.values.get('loadedSkills')).toBeUndefined()
    expect((await call('Skill', { skill: 'review' })).text).toContain(folder)
    expect(await ctx.values.get('loadedSkills')).toHaveLength(1)
  })

  it('names the skills that the session may load if it is asked for another', async () => {
    const { skill } = await useSkills()
    expect(await skill({ skill: 'deploy' })).toEqual({
      text: 'There is no skill "deploy". Available: review.',
      isError: true,
    })
    const none = callToolOf(skills(), testContext())
    expect(await none('Skill', { skill: 'review' })).toMatchObject({ text: expect.stringContaining('no skills here') })
  })
})

const spec = (name: string) => ({ name, description: `Does ${name}`, parameters: { type: 'object', title: name } })

describe('DiscoverTools', () => {
  function useTools(names: string[]) {
    const ctx = testContext({ listTools: async () => [...names, 'DiscoverTools'].map(spec) })
    const call = callToolOf(skills({ defer: ['mail_*'] }), ctx)
    return { ctx, discover: (query: string, more: object = {}) => call('DiscoverTools', { query, ...more }) }
  }

  it('lists whole schemas, and remembers what any call has found', async () => {
    const { ctx, discover } = useTools(['mail_send', 'mail_read', 'clock'])
    const first = await discover('mail', { max_results: 1 })
    expect(first.text).toContain(JSON.stringify(spec('mail_read')).slice(1, -1))
    expect(await ctx.values.get('discoveredTools')).toEqual(['mail_read'])
    await discover('select:clock,mail_read')
    expect(await ctx.values.get('discoveredTools')).toEqual(['mail_read', 'clock'])
  })

  it('names what there is if nothing fits, and remembers nothing', async () => {
    const { ctx, discover } = useTools(['mail_send', 'clock'])
    for (const query of ['weather', 'select:weather']) {
      expect(await discover(query)).toEqual({ text: 'No tool fits. There are: mail_send, clock.', isError: true })
    }
    expect(await ctx.values.get('discoveredTools')).toBeUndefined()
  })

  it('says which selected tools are missing', async () => {
    const { discover } = useTools(['clock'])
    expect((await discover('select:clock,weather')).text).toContain('There is no tool weather.')
  })

  it('does not find itself', async () => {
    const { discover } = useTools(['clock'])
    expect((await discover('Does')).text).not.toContain('DiscoverTools')
  })

  it.each([[0], [11], ['x']])('refuses max_results %j', async (max_results) => {
    const { discover } = useTools(['clock'])
    expect(await discover('clock', { max_results })).toMatchObject({ isError: true })
  })
})

it.each([['mcp__*'], [['']], [[5]]])('skills({ defer: %j }) is refused', (defer) => {
  expect(() => skills({ defer: defer as string[] })).toThrow('defer must be a list of names')
})
