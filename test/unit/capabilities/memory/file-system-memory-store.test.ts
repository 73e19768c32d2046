import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FileSystemMemoryStore } from '../../../../src/capabilities/index.ts'
import { memoryStoreContract } from './memory-store-contract.ts'

describe('memories as files', () => {
  memoryStoreContract(() => {
    const folder = mkdtempSync(join(tmpdir(), 'stello-memories-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    return { store: new FileSystemMemoryStore(folder), space: 'alice' }
  })

  it('must have an absolute folder', () => {
    expect(() => new FileSystemMemoryStore('memories')).toThrow('no absolute path')
  })
})
