/** A tool asks something: options to choose from, a form, or a text in own words. */
import { useState, type ReactNode } from 'react'
import { PlainText } from '../plain-text.tsx'
import type { QuestionCardProps } from './card-props.ts'
import { SchemaForm } from './schema-form.tsx'

/** @param props.item a question */
export function QuestionCard({ item, busy, answer }: QuestionCardProps): ReactNode {
  const { options = [], multiSelect = false, schema, preview } = item.form ?? {}
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [text, setText] = useState('')
  const decline = (
    <button disabled={busy} onClick={() => void answer({ decision: 'decline', ...(text !== '' && { text }) })}>
      Decline
    </button>
  )
  const said = [...chosen, ...(text.trim() === '' ? [] : [text.trim()])].join(', ')
  return (
    <>
      {preview !== undefined && (
        <pre className="arguments">
          <PlainText text={preview} />
        </pre>
      )}
      {schema ? (
        <SchemaForm
          schema={schema}
          busy={busy}
          decline={decline}
          send={(values) => answer({ decision: 'answer', values })}
        />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void answer({ decision: 'answer', text: said })
          }}
        >
          {options.length > 0 && (
            <Options options={options} many={multiSelect} chosen={chosen} onChange={setChosen} name={item.id} />
          )}
          <label>
            <span className="what">{options.length > 0 ? 'Or in your own words' : 'Your answer'}</span>
            <textarea
              rows={options.length > 0 ? 1 : 3}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </label>
          <div className="ends">
            <button className="primary" disabled={busy || said === ''}>
              Answer
            </button>
            {decline}
          </div>
        </form>
      )}
    </>
  )
}

interface OptionsProps {
  options: readonly { label: string; description?: string }[]
  many: boolean
  chosen: readonly string[]
  name: string
  onChange(chosen: readonly string[]): void
}

function Options({ options, many, chosen, name, onChange }: OptionsProps): ReactNode {
  const toggle = (label: string): void => {
    if (!many) return onChange([label])
    onChange(chosen.includes(label) ? chosen.filter((one) => one !== label) : [...chosen, label])
  }
  return (
    <fieldset className="options">
      <legend className="hidden-label">{many ? 'Choose any' : 'Choose one'}</legend>
      {options.map(({ label, description }) => (
        <label key={label} className={chosen.includes(label) ? 'chosen' : ''}>
          <input
            type={many ? 'checkbox' : 'radio'}
            name={name}
            checked={chosen.includes(label)}
            onChange={() => toggle(label)}
          />
          <span>{label}</span>
          {description !== undefined && <span className="quiet">{description}</span>}
        </label>
      ))}
    </fieldset>
  )
}
