/**
 * Every statement of the store, prepared against the schema, so that a misspelt column is found before the statement is
 * used.
 */
import { readFile, readdir } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { allStatements, statement } from '../../src/store/database/statement.ts'
import { useDatabase } from './postgres.ts'

const at = useDatabase()
const FOLDER = new URL('../../src/store/', import.meta.url)
const files = (await readdir(FOLDER, { recursive: true })).filter((file) => file.endsWith('.ts'))
for (const file of files) await import(new URL(file, FOLDER).href)

it.each(allStatements().map(({ name, text }) => [name, text]))('%s fits the schema', async (name, text) => {
  expect(Buffer.byteLength(name)).toBeLessThan(64)
  await at.db.pool.query(`prepare tried as ${text}`)
  await at.db.pool.query('deallocate all')
})

it('are all registered: no file of the store sends a text of its own', async () => {
  expect(allStatements().length).toBeGreaterThan(80)
  for (const file of files) {
    const source = await readFile(new URL(file, FOLDER), 'utf8')
    expect(source, file).not.toMatch(/query(<[^>]*>)?\(\s*['"`]\s*(select|insert|update|delete|with)\b/)
  }
})

it('have names of their own', () => {
  const [first] = allStatements()
  expect(() => statement(first?.name ?? '', 'select 1')).toThrow('two statements')
})
