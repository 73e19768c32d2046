/** The public surface: each change of it is noticed, and everything in it has a name and an explanation. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { apiReports, type ApiReport } from './api-report.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const ENTRIES = ['index', 'client', 'worker', 'http', 'capabilities', 'testing']

/** Steps of a conditional type (`JsonInput`). A name for them would help nobody. */
const HELPERS = ['FieldsOf']
/** Users of the first entry also hold objects of the second. */
const STANDS_ON: Readonly<Record<string, string>> = { http: 'client' }

let reports: Record<string, ApiReport> = {}

const reportOf = (entry: string): ApiReport => {
  const report = reports[entry]
  if (!report) throw new Error(`package.json exports no ${entry}`)
  return report
}

beforeAll(() => {
  reports = apiReports(root)
}, 120_000)

it('every entry of package.json has a report', () => {
  expect(Object.keys(reports)).toEqual(ENTRIES)
})

describe.each(ENTRIES)('the entry %s', (entry) => {
  it('offers what its report says: `npm run api` accepts a change, with a line in CHANGELOG.md', async () => {
    await expect(reportOf(entry).text).toMatchFileSnapshot(`../../api/${entry}.api.md`)
  })

  it('exports every type that its signatures name, unless the main entry or the entry below it does', () => {
    const below = STANDS_ON[entry]
    const known = new Set([...reportOf('index').exported, ...(below ? reportOf(below).exported : []), ...HELPERS])
    expect(reportOf(entry).forgotten.filter((name) => !known.has(name))).toEqual([])
  })

  it('explains everything that it exports, and every member of it', () => {
    expect(reportOf(entry).undocumented).toEqual([])
  })

  it('shows an example of a call for every function', () => {
    expect(reportOf(entry).withoutExample).toEqual([])
  })
})

it('has no options without an effect but those that docs/seeds.md names', () => {
  const [, section = ''] = readFileSync(`${root}docs/seeds.md`, 'utf8').split('## Accepted, and without effect')
  const [table = ''] = section.split('\n## ')
  const named = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  const silent = ENTRIES.flatMap((entry) => reportOf(entry).withoutEffect)
  expect(new Set(silent)).toEqual(new Set(named))
})
