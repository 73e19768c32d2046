/** A Temporal server of its own, for a test file that needs it configured differently or does it harm. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { inject } from 'vitest'
import { findTemporal } from '../../src/dev/find-temporal.ts'
import { choosePort } from '../../src/dev/ports.ts'
import { pingTemporal } from '../../src/dev/temporal-server.ts'

/**
 * @param dynamicConfig as `name=value`; without the first two a task takes 40 ms to start
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
  const port = wanted ?? (await choosePort('Temporal', undefined, undefined))
  const settings = [
    'history.transferProcessorMaxPollRPS=10000',
    'history.timerProcessorMaxPollRPS=10000',
    ...dynamicConfig,
  ]
  const server = spawn(
    path,
    [
      'server',
      'start-dev',
      '--headless',
      '--ip=127.0.0.1',
      `--port=${port}`,
      '--log-level=never',
      ...(file === undefined ? [] : [`--db-filename=${file}`]),
      ...settings.map((value) => `--dynamic-config-value=${value}`),
    ],
    { stdio: 'ignore' },
  )
  const ended = once(server, 'exit')
  const temporalAddress = `127.0.0.1:${port}`
  while ((await pingTemporal(temporalAddress, 'default')) === undefined) {
    if (server.exitCode !== null) throw new Error(`the Temporal server ended with code ${server.exitCode}`)
  }
  return {
    temporalAddress,
    async close() {
      server.kill('SIGTERM')
      await ended
    },
  }
}
