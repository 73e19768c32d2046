/** The form of a question: fields where its schema is plain, JSON where it is not. The server checks the values. */
import { useState, type ReactNode } from 'react'
import type { JsonSchema } from '../../core/model.ts'
import { readJsonObject } from './json-object.ts'
import { fieldValues, schemaFields, type FormField } from './schema-fields.ts'

interface SchemaFormProps {
  schema: JsonSchema
  busy: boolean
  decline: ReactNode
  send(values: Record<string, unknown>): Promise<boolean>
}

/** @param props.decline the other button */
export function SchemaForm({ schema, busy, decline, send }: SchemaFormProps): ReactNode {
  const fields = schemaFields(schema)
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const [json, setJson] = useState('{}')
  const read = fields ? { ok: true as const, value: fieldValues(fields, typed) } : readJsonObject(json)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (read.ok) void send(read.value)
      }}
    >
      {fields ? (
        fields.map((field) => (
          <Field
            key={field.name}
            field={field}
            value={typed[field.name] ?? ''}
            onChange={(value) => setTyped((before) => ({ ...before, [field.name]: value }))}
          />
        ))
      ) : (
        <label>
          <span className="what">Values, as JSON</span>
          <textarea className="mono" rows={5} value={json} onChange={(event) => setJson(event.target.value)} />
          <details className="quiet">
            <summary>What they must fit</summary>
            <pre>{JSON.stringify(schema, null, 2)}</pre>
          </details>
        </label>
      )}
      {!read.ok && (
        <span className="problem" role="alert">
          {read.problem}
        </span>
      )}
      <div className="ends">
        <button className="primary" disabled={busy || !read.ok}>
          Answer
        </button>
        {decline}
      </div>
    </form>
  )
}

interface FieldProps {
  field: FormField
  value: string
  onChange(value: string): void
}

function Field({
  field: { title, type, required, description, choices = [] },
  value,
  onChange,
}: FieldProps): ReactNode {
  if (type === 'yes-no') {
    return (
      <label className="yes-no">
        <input
          type="checkbox"
          checked={value === 'true'}
          onChange={(event) => onChange(String(event.target.checked))}
        />
        <span>{title}</span>
        {description !== undefined && <span className="quiet">{description}</span>}
      </label>
    )
  }
  return (
    <label>
      <span className="what">
        {title}
        {!required && ' (may stay empty)'}
      </span>
      {type === 'choice' ? (
        <select value={value} required={required} onChange={(event) => onChange(event.target.value)}>
          <option value="" />
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : (
        <input
          type={type}
          step="any"
          value={value}
          required={required}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      {description !== undefined && <span className="quiet">{description}</span>}
    </label>
  )
}
