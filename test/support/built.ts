/**
 * What many test processes need, made once for a run of the tests: the workflow bundle, and the modules that tests run
 * as processes. These modules are compiled to JavaScript and stand beside the bundle, as in the published package. Such
 * a process needs a third of the work to start.
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

/**
 * The modules that are built, with everything that they import: processes, the agents that they load, and what a user's
 * modules import.
 */
const MODULES = [
  'src/cli/main.ts',
  'src/client/index.ts',
  'src/index.ts',
  'src/testing/index.ts',
  'src/worker.ts',
  'test/cli/agent.ts',
  'test/cli/chat-agent.ts',
  'test/crash/tree/agent-process.ts',
  'test/support/worker-process.ts',
]

/** @param folder a new folder outside the repository. Modules in it find the same dependencies as in the repository */
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

/** Workers in this process run the bundle that was made for the whole run. */
export function takeBuiltBundle(): void {
  keepBundle(workflows, readFileSync(join(inject('builtFolder'), BUNDLE), 'utf8'))
}
