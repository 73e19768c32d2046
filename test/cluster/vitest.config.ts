/** `npm run test:cluster`. Not a project of `vitest.config.ts`: its files are those of other projects. */
import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'

/** Integration tests that cannot run on a cluster which others use too, each with its reason. */
const EXCLUDED = [
  // Throws Temporal's database away.
  'test/integration/operator-temporal-lost.test.ts',
]

/** Of the kills, those whose workers are processes and whose servers are everybody's. */
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
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
