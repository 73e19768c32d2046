/** The rules that people have added with answers, and how to be asked again. */
import type { ReactNode } from 'react'
import { api } from '../server/api.ts'
import { attempt } from '../notices.tsx'
import { hrefOf } from '../route.ts'
import { ago } from '../tree/doing.ts'
import { useNow } from '../use-now.ts'
import { usePolled } from '../server/use-polled.ts'
import type { Rule } from '../server/wire.ts'
import '../stats/table.css'

/** The list. */
export function PermissionsPage(): ReactNode {
  const { answer: rules, failure, again } = usePolled('permissions', api.permissions, { everyMs: 5000 })
  const now = useNow(10_000)
  const remove = async (rule: Rule): Promise<void> => {
    await attempt(() => api.removePermission(rule), `Removed ${rule.rule}.`)
    again()
  }
  return (
    <div className="narrow">
      <div className="head">
        <h1>Permissions</h1>
      </div>
      {!rules && <p className="empty">{failure ? failure.message : 'Loading…'}</p>}
      {rules?.length === 0 && (
        <p className="empty">No rules. An approval that is remembered adds one, and it is listed here.</p>
      )}
      {rules && rules.length > 0 && (
        <div className="card table-frame" tabIndex={0} role="region" aria-label="Rules">
          <table>
            <thead>
              <tr>
                <th scope="col">Runs without a question</th>
                <th scope="col">Where</th>
                <th scope="col" className="num on-wide">
                  Since
                </th>
                <th scope="col">
                  <span className="hidden-label">Remove</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rules.map((rule) => (
                <tr key={`${rule.scope}/${rule.owner}/${rule.rule}`}>
                  <th scope="row" className="mono">
                    {rule.rule}
                  </th>
                  <td>
                    {rule.scope}{' '}
                    {rule.scope === 'agent' ? (
                      <code>{rule.owner}</code>
                    ) : (
                      <a className="mono" href={hrefOf({ at: 'session', sessionId: rule.owner })}>
                        {rule.owner}
                      </a>
                    )}
                  </td>
                  <td className="num quiet on-wide">{ago(rule.at, now)}</td>
                  <td className="num">
                    <button onClick={() => void remove(rule)} aria-label={`Remove ${rule.rule}`}>
                      Remove
                    </button>
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
