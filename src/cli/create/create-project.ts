/** Writes a new package into a folder of its own. */
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { StelloError } from '../../core/errors.ts'
import { projectFiles } from './project-template.ts'

/**
 * @param folder its last part is the name of the package
 * @returns the names of the files
 * @throws StelloError INVALID_ARGUMENT when the name is no name of a package, or the folder is not empty
 */
export async function createProject(folder: string): Promise<string[]> {
  const name = basename(resolve(folder))
  if (!/^[a-z0-9][a-z0-9._-]{0,213}$/.test(name)) {
    throw new StelloError('INVALID_ARGUMENT', `"${name}" is no name of a package`, {
      hint: 'use small letters, digits, "-", "_" and "."',
    })
  }
  if (existsSync(folder) && (await readdir(folder)).length > 0)
    throw new StelloError('INVALID_ARGUMENT', `${folder} is not empty`, { hint: 'name another folder' })
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  const files = Object.entries(projectFiles(name, version))
  await mkdir(folder, { recursive: true })
  for (const [file, text] of files) await writeFile(join(folder, file), text, { flag: 'wx' })
  return files.map(([file]) => file)
}
