/** May a call run? With the model's arguments or with edited ones, once or from now on; or not, and why. */
import { useState, type ReactNode } from 'react'
import type { Remember } from '../../client/index.ts'
import { attempt } from '../notices.tsx'
import { api } from '../server/api.ts'
import type { RecordsPage } from '../server/wire.ts'
import type { QuestionCardProps, WaitingQuestion } from './card-props.ts'
import { indented, readJsonObject } from './json-object.ts'

const REMEMBERS: readonly (readonly [value: '' | Remember, says: string])[] = [
  ['', 'this once'],
  ['session', 'in this session'],
  ['tree', 'in the whole tree'],
  ['agent', 'wherever this agent works'],
]
/** The call is in the last answer of the model, or close before it. */
const LAST_RECORDS = 60

/** @param props.item an approval */
export function ApprovalCard({ item, busy, answer }: QuestionCardProps): ReactNode {
  const [edited, setEdited] = useState<string>()
  const [remember, setRemember] = useState<'' | Remember>('')
  const [why, setWhy] = useState<string>()
  const typed = edited === undefined ? undefined : readJsonObject(edited)
  const { touches = [], rules = [] } = item.permit ?? {}
  const approve = (): Promise<boolean> =>
    answer({
      decision: 'approve',
      ...(typed?.ok && { args: typed.value }),
      ...(remember !== '' && { remember }),
    })
  return (
    <>
      {touches.length > 0 && (
        <ul className="touches" aria-label="What it would touch" tabIndex={0}>
          {touches.map((touched) => (
            <li key={touched} className="mono">
              {touched}
            </li>
          ))}
        </ul>
      )}
      {edited === undefined ? (
        <pre className="arguments">{item.preview}</pre>
      ) : (
        <EditedArguments edited={edited} problem={typed?.ok === false ? typed.problem : undefined} edit={setEdited} />
      )}
      {why !== undefined && (
        <label>
          <span className="what">Why not? The model reads it.</span>
          <input value={why} autoFocus onChange={(event) => setWhy(event.target.value)} />
        </label>
      )}
      <div className="ends">
        {why === undefined ? (
          <>
            <button className="primary" disabled={busy || typed?.ok === false} onClick={() => void approve()}>
              Approve
            </button>
            {rules.length > 0 && (
              <select
                aria-label="For how long"
                title={rules.join('\n')}
                value={remember}
                onChange={(event) => setRemember(event.target.value as '' | Remember)}
              >
                {REMEMBERS.map(([value, says]) => (
                  <option key={value} value={value}>
                    {says}
                  </option>
                ))}
              </select>
            )}
            {edited === undefined && (
              <button onClick={() => void attempt(async () => setEdited(await fullArguments(item)))}>
                Edit arguments
              </button>
            )}
            <button className="danger" disabled={busy} onClick={() => setWhy('')}>
              Deny…
            </button>
          </>
        ) : (
          <>
            <button
              className="danger"
              disabled={busy}
              onClick={() => void answer({ decision: 'deny', ...(why.trim() !== '' && { text: why }) })}
            >
              Deny
            </button>
            <button onClick={() => setWhy(undefined)}>Back</button>
          </>
        )}
      </div>
      {remember !== '' && (
        <p className="rules">
          Adds{' '}
          {rules.map((rule) => (
            <code key={rule}>{rule}</code>
          ))}
        </p>
      )}
    </>
  )
}

/**
 * The whole arguments of a call that waits. The item holds only their beginning; the transcript holds them whole.
 *
 * @returns JSON, indented
 * @throws an error when the call is not found: without arguments it would be another call
 */
async function fullArguments({ sessionId, callId, preview }: WaitingQuestion): Promise<string> {
  if (readJsonObject(preview).ok) return indented(preview)
  for (let from: number | undefined = -LAST_RECORDS; from !== undefined;) {
    const { records, next }: RecordsPage = await api.records(sessionId, { from, limit: LAST_RECORDS })
    const call = records.flatMap(({ message }) => message.toolCalls ?? []).findLast(({ id }) => id === callId)
    if (call) return indented(call.arguments)
    from = next
  }
  throw new Error('the arguments of the call cannot be read; approve it as it is, or deny it')
}

interface EditedArgumentsProps {
  edited: string
  /** Why they cannot be sent. */
  problem: string | undefined
  edit(text: string): void
}

function EditedArguments({ edited, problem, edit }: EditedArgumentsProps): ReactNode {
  return (
    <label>
      <span className="what">Arguments, as JSON</span>
      <textarea
        className="mono"
        rows={Math.min(16, edited.split('\n').length + 1)}
        value={edited}
        spellCheck={false}
        aria-invalid={problem !== undefined}
        onChange={(event) => edit(event.target.value)}
      />
      {problem !== undefined && (
        <span className="problem" role="alert">
          {problem}
        </span>
      )}
    </label>
  )
}
