/** A Temporal server for one test file, which configures it differently or damages it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { inject } from 'vitest'
import { findTemporal } from '../../src/dev/find-temporal.ts'
import { choosePort, listensOn, startOnPorts } from '../../src/dev/ports.ts'
import { identify } from '../../src/dev/processes.ts'
import { pingTemporal } from '../../src/dev/temporal-server.ts'

/**
 * @param dynamicConfig more settings, as `name=value`. Without the two that are always set, a task takes 40 ms to start
 * @param options.file where it keeps its data; unset = in memory
 * @param options.port unset = a free one
 */
export async function startTemporalWith(
  dynamicConfig: string[],
  { file, port: wanted }: { file?: string; port?: number } = {},
): Promise<{ temporalAddress: string; close(): Promise<void> }> {
  if (inject('namespacesWith'))
    throw new Error('starts a server of its own: see EXCLUDED in test/cluster/vitest.config.ts')
  const { path } = await findTemporal()
  const settings = [
    'history.transferProcessorMaxPollRPS=10000',
    'history.timerProcessorMaxPollRPS=10000',
    ...dynamicConfig,
  ]
  return startOnPorts(async () => {
    const port = await choosePort('Temporal', wanted, undefined)
    const server = spawn(
      path,
      [
        'server',
        'start-dev',
        '--headless',
        '--ip=127.0.0.1',
        `--port=${port}`,
        '--log-level=error',
        ...(file === undefined ? [] : [`--db-filename=${file}`]),
        ...settings.map((value) => `--dynamic-config-value=${value}`),
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    )
    let said = ''
    server.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    const ended = once(server, 'close')
    const temporalAddress = `127.0.0.1:${port}`
    const answers = async (): Promise<boolean> => {
      const id = identify(server.pid ?? 0)
      if (id) return (await listensOn(id, port)) && (await pingTemporal(temporalAddress, 'default')) !== undefined
      await ended
      throw new Error(`the Temporal server ended with code ${server.exitCode}: ${said}`)
    }
    while (!(await answers())) await delay(25)
    return {
      temporalAddress,
      async close() {
        server.kill('SIGTERM')
        await ended
      },
    }
  })
}
