/**
 * The page as the package has it, built once for each test process. A process of its own builds it, because React
 * depends on NODE_ENV.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inject } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
let built: Promise<string> | undefined

/** @returns the folder, for `page` of `serveHttp` */
export function builtPage(): Promise<string> {
  built ??= buildPage(join(inject('builtFolder'), `page-${process.pid}`))
  return built
}

/** @param folder is emptied first */
export async function buildPage(folder: string): Promise<string> {
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  const args = [vite, 'build', '--config', join(root, 'src/web/vite.config.ts'), '--outDir', folder, '--emptyOutDir']
  await promisify(execFile)(process.execPath, args, { cwd: root, env: { ...process.env, NODE_ENV: 'production' } })
  return folder
}
