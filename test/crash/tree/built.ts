/**
 * A worker's module as JavaScript, with the sources it needs and the workflow bundle beside them, as in the published
 * package: so it starts with a third of the work.
 */
import { execFile } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { bundleWorkflows } from '../../../src/bundle-workflows.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/**
 * @param module path in the repository
 * @param folder outside the repository; dependencies are found as inside
 * @returns path of the module to run
 */
export async function buildInto(folder: string, module: string): Promise<string> {
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
  return join(folder, module.replace(/\.ts$/, '.js'))
}
