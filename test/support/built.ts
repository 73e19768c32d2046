/**
 * A worker's module as JavaScript, with the sources it needs and the workflow bundle beside them, as in the published
 * package: so it starts with a third of the work. Made once in a run of the tests, by the first that needs it.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { inject } from 'vitest'
import { bundleWorkflows } from '../../src/worker/bundle-workflows.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

const built = new Map<string, Promise<string>>()

/**
 * @param module path in the repository
 * @returns path of the module to run
 */
export function builtModule(module: string): Promise<string> {
  // Two workers may be started at once.
  const known = built.get(module) ?? findOrBuild(module)
  built.set(module, known)
  return known
}

async function findOrBuild(module: string): Promise<string> {
  const folder = join(inject('builtFolder'), basename(module, '.ts'))
  if (!existsSync(folder)) {
    // Renamed at the end: half of it is never found.
    const begun = `${folder}-${process.pid}`
    await mkdir(begun, { recursive: true })
    await buildInto(begun, module)
    await rename(begun, folder)
  }
  return join(folder, module.replace(/\.ts$/, '.js'))
}

/** @param folder outside the repository; dependencies are found as inside */
async function buildInto(folder: string, module: string): Promise<void> {
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { rootDir: root, outDir: folder, noEmit: false, rewriteRelativeImportExtensions: true },
    files: [module, 'src/workflows/index.ts', 'src/workflows/stack-traces.ts'].map((file) => join(root, file)),
    include: [],
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { cwd: root })
  const { code } = await bundleWorkflows(pathToFileURL(join(folder, 'src/workflows')))
  await writeFile(join(folder, 'src/workflow-bundle.js'), code)
}
