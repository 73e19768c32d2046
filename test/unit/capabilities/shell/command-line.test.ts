/** How a command of a model is started. */
import { describe, expect, it } from 'vitest'
import { commandLine } from '../../../../src/capabilities/shell/command-line.ts'

const sandbox = { workspace: '/srv/work', tmp: '/srv/tmp', network: false, readable: [] }
const given = { LD_PRELOAD: '/srv/work/evil.so', NODE_OPTIONS: '--require=/srv/work/evil.js', PATH: '/srv/work' }

describe('the variables of a call', () => {
  it.each([
    ['in a sandbox', sandbox],
    ['without one', undefined],
  ])('reach the command, and no program around it: %s', (_, within) => {
    const { argv, env } = commandLine('true', { sandbox: within, limits: {}, own: { OWN: 'x' }, given })

    expect(env).toMatchObject({ OWN: 'x' })
    expect(env).not.toHaveProperty('LD_PRELOAD')
    expect(env).not.toHaveProperty('NODE_OPTIONS')
    expect(env['PATH']).toBe(process.env['PATH'])
    const set = argv.indexOf('LD_PRELOAD=/srv/work/evil.so')
    expect(argv.slice(set - 1, set + 4)).toEqual([
      'env',
      'LD_PRELOAD=/srv/work/evil.so',
      'NODE_OPTIONS=--require=/srv/work/evil.js',
      'PATH=/srv/work',
      'bash',
    ])
    if (within) expect(argv.indexOf('bwrap')).toBeLessThan(set)
  })
})
