/** `npm run test:cluster`. Not a project of `vitest.config.ts`: its files are those of other projects. */
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    name: 'cluster',
    include: ['test/integration/**/*.test.ts', 'test/crash/worker-killed.test.ts', 'test/cluster/**/*.test.ts'],
    globalSetup: ['test/cluster/servers.ts'],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
