/** How often each tool was called, with what success, and how long it took. */
import type { ReactNode } from 'react'
import type { SessionStats } from '../../client/index.ts'
import { amount } from '../amount.ts'
import { span } from '../tree/doing.ts'
import './table.css'

/** @param props.stats of one session; forks are not counted */
export function StatsTable({ stats: { totals, tools } }: { stats: SessionStats }): ReactNode {
  return (
    <section className="stats" aria-label="Statistics">
      <dl className="totals num">
        <Total name="turns" value={totals.turns} />
        <Total name="model calls" value={totals.modelCalls} />
        <Total name="tool calls" value={totals.toolCalls} />
        <Total name="tokens in" value={totals.inputTokens} />
        <Total name="tokens out" value={totals.outputTokens} />
      </dl>
      {tools.length > 0 && (
        <div className="table-frame" tabIndex={0} role="region" aria-label="Tools">
          <table>
            <thead>
              <tr>
                <th scope="col">Tool</th>
                <th scope="col" className="num">
                  Calls
                </th>
                <th scope="col" className="num">
                  Failed
                </th>
                <th scope="col" className="num">
                  Average
                </th>
                <th scope="col" className="num">
                  Total
                </th>
                <th scope="col">Failures</th>
              </tr>
            </thead>
            <tbody>
              {tools.map(({ toolName, executionCount, failureCount, averageDuration, totalDuration, errors = {} }) => (
                <tr key={toolName}>
                  <th scope="row" className="mono">
                    {toolName}
                  </th>
                  <td className="num">{executionCount}</td>
                  <td className={failureCount > 0 ? 'num bad' : 'num'}>{failureCount}</td>
                  <td className="num">{span(averageDuration)}</td>
                  <td className="num">{span(totalDuration)}</td>
                  <td className="quiet">
                    {Object.entries(errors)
                      .map(([code, count]) => `${code} ${count}`)
                      .join(', ')}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

function Total({ name, value }: { name: string; value: number }): ReactNode {
  return (
    <div title={String(value)}>
      <dd>{amount(value)}</dd>
      <dt>{name}</dt>
    </div>
  )
}
