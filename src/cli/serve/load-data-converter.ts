/** The data converter of the commands, from the module that `STELLO_DATA_CONVERTER` names. Encrypted sessions need it. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { DataConverter } from '@temporalio/common'
import { StelloError, messageOf } from '../../core/errors.ts'

/**
 * @returns the export `dataConverter` of that JavaScript or TypeScript file; nothing where the variable is unset
 * @throws StelloError INVALID_ARGUMENT naming the file and what is wrong with it
 */
export async function loadDataConverter(): Promise<{ dataConverter?: DataConverter }> {
  const file = process.env['STELLO_DATA_CONVERTER']
  if (!file) return {}
  const path = resolve(file)
  if (!existsSync(path)) throw wrong(`there is no file ${path}`)
  const { loadModule } = await import('./load-module.ts')
  const loaded = await (loadModule(path) as Promise<Loaded>).catch((error: unknown) => {
    throw wrong(`${path} cannot be loaded: ${messageOf(error)}`)
  })
  const dataConverter = loaded.dataConverter ?? loaded.default?.dataConverter
  if (typeof dataConverter !== 'object' || dataConverter === null) throw wrong(`${path} exports no dataConverter`)
  return { dataConverter }
}

/** A CommonJS module may nest the exports. */
type Loaded = { dataConverter?: DataConverter; default?: { dataConverter?: DataConverter } }

function wrong(what: string): StelloError {
  return new StelloError('INVALID_ARGUMENT', `STELLO_DATA_CONVERTER: ${what}`, {
    hint: 'let it name a file that ends with `export const dataConverter = { payloadCodecs: [ … ] }`',
  })
}
