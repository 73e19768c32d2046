/**
 * A coding job whose worker is killed twice: while a command of the shell runs, and between an edit and the storing of
 * its result. The project ends as it does when no worker is killed, and no step is made twice.
 */
import { cpSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import type { SessionHandle } from '../../src/client/index.ts'
import { repairer, STEPS } from '../../examples/coding/repairer.ts'
import { useCrashStage } from '../support/crash-stage.ts'

const PROJECT = fileURLToPath(new URL('../../examples/coding/project', import.meta.url))
const model = repairer()
const stage = useCrashStage({
  script: async ({ messages }) => {
    const { content, toolCalls } = await model.complete(messages, {})
    return { content, toolCalls }
  },
})

function newProject(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'stello-coding-')))
  cpSync(PROJECT, folder, { recursive: true })
  onTestFinished(async () => {
    await stage.killWorkers()
    rmSync(folder, { recursive: true })
  })
  return folder
}

/** The files of the project with their texts, without those that the tools keep beside them. */
function filesOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && !join(entry.parentPath, entry.name).includes('/.'))
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      return [path.slice(folder.length), readFileSync(path, 'utf8')]
    }),
  )
}

/** The results of the tools as the model reads them, one per call. */
async function told(session: SessionHandle): Promise<string[]> {
  return (await session.transcript()).filter(({ role }) => role === 'tool').map(({ content }) => content)
}

it('ends with the same files as an undisturbed one, and repeats no command', async () => {
  const calm = newProject()
  await stage.startWorker({ folder: calm, shell: true })
  const undisturbed = await stage.session()
  const { text } = await (await undisturbed.send('repair it')).result()
  expect(text).toMatch(/Both are mended: 4 tests pass/)
  await stage.killWorkers()

  const folder = newProject()
  const session = await stage.session()
  const first = await stage.startWorker({ folder, shell: true })
  const command = await stage.holds.hold({ session: session.id, step: 't1.1.0', moment: 'settle' })
  const turn = await session.send('repair it')
  await command.reached()
  await first.kill()
  await command.drop()

  const edit = await stage.holds.hold({ session: session.id, step: 't1.4.0', moment: 'settle' })
  const second = await stage.startWorker({ folder, shell: true })
  await edit.reached()
  await second.kill()
  await edit.drop()

  await stage.startWorker({ folder, shell: true })
  expect((await turn.result()).text).toBe(text)
  expect(filesOf(folder)).toEqual(filesOf(calm))
  const [results, calmResults] = [await told(session), await told(undisturbed)]
  expect(results).toHaveLength(STEPS.length)
  // The command had run, but its result was lost with the worker. It is not run again, and the model reads that.
  expect(results[1]).toMatch(/^TOOL_OUTCOME_UNKNOWN/)
  // The edit had been made. The file shows that, so it is not made again. All other results are those of an undisturbed
  // run.
  expect(results[4]).toMatch(/src\/median\.js/)
  for (const index of [0, 2, 3, 5]) expect(results[index]).toBe(calmResults[index])
})
