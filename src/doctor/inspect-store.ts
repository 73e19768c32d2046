/** Checks whether PostgreSQL lets us in, has room for a worker, and has a schema that this version can use. */
import { isStelloError, messageOf } from '../core/errors.ts'
import type { Finding } from './diagnose.ts'
import { connectTrouble } from '../store/database/connect-trouble.ts'
import { openDatabase, shownUrl } from '../store/database/database.ts'
import { REMEDY, proveDirect } from '../store/database/direct.ts'
import { readServer, type ServerFacts } from '../store/database/inspect.ts'
import { FOREIGN, readSchema, type Schema } from '../store/schema/migrate.ts'

/** Connections of one worker: two pools, and two that hold the lock by which it shows that it lives. */
const WORKER_CONNECTIONS = 42

/** @returns `usable`: this version can use the schema */
export async function inspectStore(url: string | undefined): Promise<{ findings: Finding[]; usable: boolean }> {
  const name = 'PostgreSQL'
  if (!url) {
    const detail = 'no STELLO_DATABASE_URL, no development server'
    return {
      findings: [{ name, ok: false, detail, hint: 'run `stello dev`, or set STELLO_DATABASE_URL' }],
      usable: false,
    }
  }
  const db = openDatabase(url)
  try {
    const facts = await readServer(url)
    const schema = await readSchema(db)
    const direct = await proveDirect(url).then(() => [], pooled)
    const server = { name, ok: true, detail: `version ${facts.version}, ${shownUrl(url)}` }
    return { findings: [server, ...direct, schemaOf(schema), ...rightsAndRoom(facts)], usable: schema.usable }
  } catch (error) {
    const { what, hint } = connectTrouble(error)
    return { findings: [{ name, ok: false, detail: `${shownUrl(url)}: ${what}`, hint }], usable: false }
  } finally {
    await db.close().catch((error: unknown) => messageOf(error))
  }
}

function schemaOf({ newest, missing, unknown, usable, foreign }: Schema): Finding {
  const name = 'Schema'
  if (foreign) return { name, ok: false, detail: FOREIGN.what, hint: FOREIGN.hint }
  if (newest === undefined) return { name, ok: true, detail: 'none yet: the first worker or session creates it' }
  if (usable && unknown.length === 0) return { name, ok: true, detail: newest }
  if (usable) return { name, ok: true, detail: `${newest}, of a newer version, which lets this one work on it` }
  if (unknown.length > 0) {
    const detail = `${newest} is of a newer version, which this one cannot work on`
    return { name, ok: false, detail, hint: 'update stello-temporal' }
  }
  const detail = `${newest}; this version also wants ${missing.join(', ')}`
  return {
    name,
    ok: true,
    warning: true,
    detail,
    hint: 'the next worker of this version brings it, or `stello migrate`',
  }
}

function pooled(error: unknown): Finding[] {
  const hint = (isStelloError(error) ? error.hint : undefined) ?? REMEDY
  return [{ name: 'Direct connection', ok: false, detail: messageOf(error), hint }]
}

function rightsAndRoom({ free, forbidden }: ServerFacts): Finding[] {
  const findings: Finding[] = []
  if (forbidden.length > 0) {
    findings.push({
      name: 'Permission',
      ok: false,
      detail: `the user may not read or write ${forbidden.join(', ')}`,
      hint: 'grant select, insert, update and delete on all tables of the store to the user of STELLO_DATABASE_URL',
    })
  }
  if (free < WORKER_CONNECTIONS) {
    findings.push({
      name: 'Connections',
      ok: true,
      warning: true,
      detail: `${Math.max(0, free)} left; one more worker takes up to ${WORKER_CONNECTIONS}`,
      hint: 'raise max_connections, or the limit of the user or the database',
    })
  }
  return findings
}
