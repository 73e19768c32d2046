/**
 * The configuration of `npm run test:cluster`. It is no project of `vitest.config.ts`, because its files belong to
 * other projects.
 */
import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'

/** Integration tests that cannot run on a shared cluster, each with its reason. */
const EXCLUDED = [
  // It throws the database of Temporal away.
  'test/integration/operator-temporal-lost.test.ts',
  // It wants a Temporal whose sessions are all in its own store.
  'test/integration/doctor.test.ts',
  // It counts the workers of its process. Here each agent has two.
  'test/integration/health.test.ts',
  // It counts the requests that the gate of one worker lets through.
  'test/integration/storm.test.ts',
]

/** The tests of kills whose workers are processes and whose servers are shared. */
const KILLS = ['test/crash/{moments,take-over}.test.ts']

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    name: 'cluster',
    include: ['test/integration/**/*.test.ts', ...KILLS, 'test/cluster/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...EXCLUDED],
    /** Kills at every moment. */
    env: { STELLO_CRASH: 'all' },
    globalSetup: ['test/cluster/servers.ts'],
    setupFiles: ['test/cli/after-file.ts'],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
