/**
 * What many test processes need, made once for a run of the tests: the workflow bundle, and the modules that tests run as
 * processes, as JavaScript with the bundle beside them, as in the published package. So they start with a third of the work.
 */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inject } from 'vitest'
import { bundleWorkflows, keepBundle } from '../../src/worker/bundle-workflows.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const workflows = new URL('../../src/workflows', import.meta.url)
const BUNDLE = 'src/workflow-bundle.js'

/** What is built, with all that it imports. */
const MODULES = ['src/cli/main.ts', 'test/support/worker-process.ts', 'test/crash/tree/agent-process.ts']

/** @param folder outside the repository, new; dependencies are found as inside */
export async function build(folder: string): Promise<void> {
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      rootDir: root,
      outDir: folder,
      noEmit: false,
      noCheck: true,
      rewriteRelativeImportExtensions: true,
    },
    files: MODULES.map((file) => join(root, file)),
    include: [],
  }
  await mkdir(join(folder, 'src'), { recursive: true })
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  await copyFile(join(root, 'package.json'), join(folder, 'package.json'))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  const [{ code }] = await Promise.all([
    bundleWorkflows(workflows),
    promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { cwd: root }),
  ])
  await writeFile(join(folder, BUNDLE), code)
}

/**
 * @param module path in the repository
 * @returns path of the module to run
 */
export function builtModule(module: string): string {
  if (!MODULES.includes(module)) throw new Error(`${module} is not built: see MODULES in test/support/built.ts`)
  return join(inject('builtFolder'), module.replace(/\.ts$/, '.js'))
}

/** Workers in this process run the bundle of the whole run. */
export function takeBuiltBundle(): void {
  keepBundle(workflows, readFileSync(join(inject('builtFolder'), BUNDLE), 'utf8'))
}
