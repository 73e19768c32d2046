/**
 * Nothing is done twice and nothing is lost when servers of production die: SIGKILL in the middle of a turn, then a new
 * start on the same data, or on copies of it as docs/deploy.md says.
 */
import { expect, inject, it } from 'vitest'
import { useFreshStage } from '../support/crash-stage.ts'
import { backUp, type Backup } from '../support/databases.ts'
import { ask } from '../support/session-fixture.ts'
import { killPostgresServer, startPostgresServer } from './postgres.ts'
import { startTemporalServer, stopTemporalServer } from './temporal.ts'

const stage = useFreshStage()
const temporal = inject('clusterTemporal')
const postgres = inject('clusterPostgres')

async function startWorkers(): Promise<void> {
  await Promise.all([stage.startWorker(), stage.startWorker()])
}

async function killTemporal(): Promise<void> {
  await stopTemporalServer(temporal, 'SIGKILL')
}

it.each([
  ['Temporal', killTemporal, () => startTemporalServer(temporal)],
  [
    'PostgreSQL, of the store and of Temporal,',
    () => killPostgresServer(postgres),
    () => startPostgresServer(postgres),
  ],
])('a turn ends as usual when %s is killed in its middle', async (_which, kill, startAgain) => {
  await startWorkers()
  const session = await stage.session()
  const turn = await session.send('both')
  await stage.doors.knocked(2)
  await kill()
  stage.door.open()
  await startAgain()
  expect((await turn.result()).text).toBe('done after 2')
  const runs = (name: string): number => stage.doors.knocks.filter(({ tool }) => tool === name).length
  expect(runs('pay')).toBe(1)
  // A killed PostgreSQL may have forgotten the claim of a tool that may be repeated.
  expect([1, 2]).toContain(runs('look'))
  expect(stage.fake.requests).toHaveLength(2)
})

it('the turn ends after a whole machine has died, and nothing with an effect runs twice', async () => {
  await startWorkers()
  const session = await stage.session()
  const turn = await session.send('both', { messageId: 'm' })
  const later = await session.send('more')
  await stage.doors.knocked(2)
  await Promise.all([stage.killWorkers(), killTemporal(), killPostgresServer(postgres)])
  await startPostgresServer(postgres)
  await startTemporalServer(temporal)
  await startWorkers()
  stage.door.open()
  expect((await turn.result()).text).toBe('done after 2')
  expect((await later.result()).text).toBe('answer to more')
  const results = (await session.transcript()).filter(({ role }) => role === 'tool')
  expect(results.map(({ content }) => content.split(':')[0])).toEqual(['look done', 'TOOL_OUTCOME_UNKNOWN'])
  expect(stage.doors.knocks.filter(({ tool }) => tool === 'pay')).toHaveLength(1)
  expect(stage.fake.requests).toHaveLength(3)
})

it('a turn that ended between the copy of Temporal and the copy of the store is not done again', async () => {
  await startWorkers()
  const session = await stage.session()
  const turn = await session.send('both')
  await stage.doors.knocked(2)
  const copies: Backup[] = []
  for (const name of ['temporal', 'temporal_visibility']) copies.push(await backUp(urlOf(name)))
  stage.door.open()
  await turn.result()
  copies.push(await backUp(stage.servers.databaseUrl))
  await stage.killWorkers()
  await stopTemporalServer(temporal)
  for (const copy of copies) await copy.restore()
  await startTemporalServer(temporal)
  const { raw } = await stage.client.temporal.workflow.getHandle(session.id).describe()
  expect(raw.pendingActivities).toHaveLength(2)
  await startWorkers()
  expect(await ask(session, 'more')).toBe('answer to more')
  const contents = (await session.transcript()).map(({ content }) => content.split(':')[0])
  expect(contents).toEqual(['both', '', 'look done', 'pay done', 'done after 2', 'more', 'answer to more'])
  expect(stage.doors.knocks).toHaveLength(2)
  expect(stage.fake.requests).toHaveLength(3)
})

function urlOf(database: string): string {
  const url = new URL(stage.servers.databaseUrl)
  url.pathname = `/${database}`
  return url.href
}
