import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { checkNodeVersion } from '../../../src/worker/node-version.ts'

describe('checkNodeVersion', () => {
  it.each(['20.19.0', '20.20.2', '22.0.0', '100.1.0'])('accepts %s', (version) => {
    expect(() => checkNodeVersion(version)).not.toThrow()
  })

  it.each(['20.18.9', '18.20.0', '9.99.0'])('refuses %s, names it and says what is needed', (version) => {
    expect(() => checkNodeVersion(version)).toThrow(
      `stello-temporal needs Node 20.19 or newer; this is Node ${version}`,
    )
  })

  it('asks for what package.json asks for', () => {
    const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } }
    const minimum = engines.node.replace('>=', '')
    expect(() => checkNodeVersion(`${minimum}.0`)).not.toThrow()
    expect(() => checkNodeVersion('20.18.0')).toThrow(minimum)
  })
})
