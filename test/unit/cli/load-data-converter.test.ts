/** The data converter of the commands, if a variable names it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { loadDataConverter } from '../../../src/cli/serve/load-data-converter.ts'

const folder = mkdtempSync(join(tmpdir(), 'stello-converter-'))
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

function name(file: string, content?: string): void {
  const path = join(folder, file)
  if (content !== undefined) writeFileSync(path, content)
  vi.stubEnv('STELLO_DATA_CONVERTER', path)
}

it('is what the named TypeScript file exports, else nothing', async () => {
  vi.stubEnv('STELLO_DATA_CONVERTER', '')
  expect(await loadDataConverter()).toEqual({})
  name('converter.ts', 'export const dataConverter: { payloadCodecs: never[] } = { payloadCodecs: [] }\n')
  expect(await loadDataConverter()).toEqual({ dataConverter: { payloadCodecs: [] } })
})

it('is refused with the name of the file that does not export it', async () => {
  name('missing.ts')
  await expect(loadDataConverter()).rejects.toThrow(/STELLO_DATA_CONVERTER: there is no file .*missing\.ts/)
})
