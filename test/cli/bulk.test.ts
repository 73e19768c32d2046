/** One command for many sessions, after the cause of their pauses is mended. */
import { expect, it } from 'vitest'
import { linesOf, stello, stelloJson } from './command.ts'
import { useServed } from './served.ts'

const served = useServed()
const json = <T = Record<string, unknown>>(...args: string[]): Promise<T[]> => stelloJson<T>(args, { env: served.env })

async function newSession(): Promise<string> {
  const [line] = await json<{ sessionId: string }>('start', served.agent)
  return line?.sessionId ?? ''
}

it('resumes all that are paused, or those that are paused for one reason, and leaves the rest', async () => {
  const worker = await served.startWorker()
  const [one, other, third] = [await newSession(), await newSession(), await newSession()]
  for (const id of [one, other]) await json('pause', id)
  const paused = async (): Promise<string[]> =>
    (await json<{ id: string }>('list', '--state', 'paused')).map(({ id }) => id).toSorted()
  await expect.poll(paused).toEqual([one, other].toSorted())
  await served.db.pool.query(`update sessions set pause = pause || '{"reason":"budget"}' where id = $1`, [one])

  expect(await json('resume', '--all', '--reason', 'budget')).toMatchObject([{ sessionId: one, sent: 'resume' }])
  await expect.poll(paused).toEqual([other])
  expect(await json('resume', '--all')).toMatchObject([{ sessionId: other, sent: 'resume' }])
  await expect.poll(paused).toEqual([])
  expect(await json('resume', '--all')).toEqual([])

  // All of them run well.
  const { code, stdout } = await stello(['recover', '--all', '--restart', '--json'], { env: served.env })
  expect([code, linesOf(stdout).map(({ restarted }) => restarted)]).toEqual([0, [false, false, false]])
  expect(stdout).toContain(third)
  worker.kill('SIGTERM')
  await worker.ended
})

it.each(
  ['resume', 'recover'].flatMap((command) => [
    { args: [command] },
    { args: [command, 's-1', '--all'] },
    { args: [command, 's-1', '--reason', 'budget'] },
    { args: [command, '--all', '--reason', 'weather'] },
  ]),
)('refuses $args as wrong usage', async ({ args }) => {
  expect((await stello(args, { env: served.env })).code).toBe(2)
})
