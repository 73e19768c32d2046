/** What a model reads of a skill. */
import { describe, expect, it } from 'vitest'
import { partOf, skillText } from '../../../src/agent/skill-text.ts'

const skill = (content: string, more: object = {}) => ({ name: 'review', description: 'd', content, ...more })

describe('the text of a skill', () => {
  it('is its content where it has no folder and no arguments are given', () => {
    expect(skillText(skill('Do $1 with $ARGUMENTS'))).toBe('Do $1 with $ARGUMENTS')
  })

  it('begins with its folder and its files', () => {
    const text = skillText(skill('Do it', { folder: '/srv/skills/review', files: ['a.md', 'b/c.py'] }))
    expect(text).toBe('Base directory: /srv/skills/review\nFiles: a.md, b/c.py\n\nDo it')
    expect(skillText(skill('Do it', { folder: '/srv/skills/review', files: [] }))).toBe(
      'Base directory: /srv/skills/review\n\nDo it',
    )
  })

  it('names as many of its files as fit', () => {
    const files = Array.from({ length: 200 }, (_, n) => `${'x'.repeat(100)}-${n}.md`)
    const text = skillText(skill('Do it', { folder: '/srv/s', files }))
    expect(text).toMatch(/-\d+\.md … \(200 files\)\n/)
    expect(text.length).toBeLessThan(5000)
  })

  it.each([
    ['Fix $ARGUMENTS now', '  bug 7 ', 'Fix bug 7 now'],
    ['From $1 to $2 and $3.', `main "a b"`, 'From main to a b and .'],
    [`Say $1`, `'it is'`, 'Say it is'],
    ['Put $ARGUMENTS', '$& $1', 'Put $& $1'],
    ['Keep $10 and $ARGUMENTSX', 'a', 'Keep $10 and $ARGUMENTSX\n\nARGUMENTS: a'],
    ['Do it', 'with care', 'Do it\n\nARGUMENTS: with care'],
    ['Do it $ARGUMENTS', '', 'Do it '],
    ["awk '{print $1}'", '', "awk '{print $1}'"],
  ])('%j with the arguments %j is %j', (content, args, text) => {
    expect(skillText(skill(content), { args })).toBe(text)
  })
})

describe('a long text', () => {
  /** Reads on until the text has ended. */
  function parts(text: string): string[] {
    const read: string[] = []
    for (let offset: number | undefined = 0; offset !== undefined;) {
      const part = partOf(text, offset)
      const [, note = '', next] = /\n(\[characters [^\]]*?(?:read on with offset (\d+)|the end)\])$/.exec(part) ?? []
      read.push(note === '' ? part : part.slice(0, -note.length - 1))
      offset = next === undefined ? undefined : Number(next)
    }
    return read
  }

  it.each([
    ['lines', 'All work and no play\n'.repeat(8000)],
    ['one line', 'x'.repeat(120_000)],
    ['characters of two units', '🙂'.repeat(60_000)],
    ['one that just fits', 'y'.repeat(44 * 1024)],
  ])('of %s is read in parts that fit, without a gap', (_what, text) => {
    const read = parts(text)
    expect(read.join('')).toBe(text)
    for (const part of read) {
      expect(part.length).toBeLessThanOrEqual(44 * 1024)
      expect(part).not.toMatch(/\p{Surrogate}/u)
    }
  })

  it('is parted at the ends of lines', () => {
    for (const part of parts('All work and no play\n'.repeat(8000))) expect(part.endsWith('\n')).toBe(true)
  })

  it('says so when nothing is left', () => {
    expect(partOf('short', 5)).toBe('[There are 5 characters: nothing is left from 5 on.]')
  })

  it('tells its folder in the first part only', () => {
    const long = skill('x'.repeat(60_000), { folder: '/srv/s' })
    expect(skillText(long)).toContain('Base directory')
    expect(skillText(long, { offset: 45_056 })).not.toContain('Base directory')
  })
})
