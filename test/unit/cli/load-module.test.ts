/** What an agent module may import: what tsconfig.json maps, too. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { loadModule } from '../../../src/cli/serve/load-module.ts'

function write(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'stello-module-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...files })) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

it('finds what the paths of the tsconfig.json above the module lead to', async () => {
  const folder = write({
    'tsconfig.json': '{ "compilerOptions": { "paths": { "@/*": ["./lib/*"] } } }',
    'lib/name.ts': "export const name: string = 'found'",
    'agents/agent.ts': "export { name as default } from '@/name.ts'",
  })
  expect(await loadModule(join(folder, 'agents/agent.ts'))).toMatchObject({ default: 'found' })
})

it('loads a module beside a tsconfig.json that extends what is not installed', async () => {
  const folder = write({
    'tsconfig.json': '{ "extends": "@not/installed/tsconfig.json" }',
    'agent.ts': "export default 'found' as string",
  })
  expect(await loadModule(join(folder, 'agent.ts'))).toMatchObject({ default: 'found' })
})
