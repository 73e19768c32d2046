/** The package as it is published, built into a folder of the test's own. */
import { execFile } from 'node:child_process'
import { copyFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** @returns the folder with `index.js`, which finds its dependencies as the repository does */
export async function buildInto(folder: string): Promise<string> {
  const built = join(folder, 'dist')
  await copyFile(join(root, 'package.json'), join(folder, 'package.json'))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await promisify(execFile)(process.execPath, [join(root, 'scripts/build.mjs'), built])
  return built
}
