/** What the session has used, tool by tool. */
import type { ReactNode } from 'react'
import { amount } from '../amount.ts'
import { api } from '../api.ts'
import { span } from '../tree/doing.ts'
import { usePolled } from '../use-polled.ts'

const EVERY_MS = 3000

export function StatsView({ sessionId }: { sessionId: string }): ReactNode {
  const { answer, failure } = usePolled(sessionId, EVERY_MS, api.stats)
  if (!answer) return <p className="empty">{failure ? `${failure.message}. ${failure.hint ?? ''}` : 'Loading…'}</p>
  const { totals, tools } = answer
  const facts: [string, string][] = [
    ['turns', amount(totals.turns)],
    ['model calls', amount(totals.modelCalls)],
    ['tool calls', amount(totals.toolCalls)],
    ['tokens read', amount(totals.inputTokens)],
    ['tokens written', amount(totals.outputTokens)],
  ]
  return (
    <div className="stats">
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="num">{value}</dd>
          </div>
        ))}
      </dl>
      {tools.length === 0 ? (
        <p className="empty">No tool was called.</p>
      ) : (
        <div className="table" tabIndex={0} role="group" aria-label="Tools">
          <table>
            <thead>
              <tr>
                <th>Tool</th>
                <th>Calls</th>
                <th>Failed</th>
                <th>Mean</th>
                <th>Total</th>
                <th>Errors</th>
              </tr>
            </thead>
            <tbody>
              {tools.map((tool) => (
                <tr key={tool.toolName}>
                  <th scope="row">{tool.toolName}</th>
                  <td className="num">{tool.executionCount}</td>
                  <td className="num">{tool.failureCount}</td>
                  <td className="num">{span(tool.averageDuration)}</td>
                  <td className="num">{span(tool.totalDuration)}</td>
                  <td>
                    {Object.entries(tool.errors ?? {})
                      .map(([code, times]) => `${code} ${times}`)
                      .join(', ')}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  )
}
