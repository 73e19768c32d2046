/**
 * A second check beside the lint rules, which see direct imports only: the modules that really get into the workflow
 * sandbox, as the bundler of the workers reports them.
 */
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { bundleWorkflows } from '../../src/worker/bundle-workflows.ts'

const FORBIDDEN = ['ajv', 'ajv-formats', 'openai', 'pg', 'yaml', 'zod']
const SIZE_LIMIT = 2.5 * 1024 * 1024

let code = ''

beforeAll(async () => {
  code = (await bundleWorkflows(new URL('../../src/workflows', import.meta.url))).code
})

describe('the workflow bundle', () => {
  it('names the modules it holds, so that the next tests can see them', () => {
    expect(code).toContain('./src/session/step.ts')
    expect(code).toContain('node_modules/@temporalio/workflow/')
  })

  it.each(FORBIDDEN)('holds no module of %s', (name) => {
    expect(code).not.toContain(`node_modules/${name}/`)
  })

  it.each(['activities', 'client', 'models', 'store', 'capabilities'])('holds nothing of src/%s', (folder) => {
    expect(code).not.toContain(`./src/${folder}/`)
  })

  it('stays under 2.5 MB', () => {
    expect(code.length).toBeLessThan(SIZE_LIMIT)
  })
})

it('a bundle is made once; after a failure, the next caller makes it again', async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'stello-bundle-')))
  try {
    await symlink(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(root, 'node_modules'))
    await mkdir(join(root, 'workflows'))
    const folder = pathToFileURL(join(root, 'workflows'))
    await expect(bundleWorkflows(folder)).rejects.toThrow('Webpack finished with errors')
    for (const file of ['index.ts', 'stack-traces.ts']) {
      await writeFile(join(root, 'workflows', file), 'export const mended = 1\n')
    }
    const bundle = bundleWorkflows(folder)
    expect((await bundle).code).toContain('mended')
    expect(bundleWorkflows(folder)).toBe(bundle)
  } finally {
    await rm(root, { recursive: true, force: true })
  }
})
