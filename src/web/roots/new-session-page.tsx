/** Starts a session: who, under what name, with which first message. */
import { useState, type FormEvent, type KeyboardEvent, type ReactNode } from 'react'
import { api } from '../server/api.ts'
import { attempt } from '../notices.tsx'
import { go, hrefOf } from '../route.ts'
import { usePolled } from '../server/use-polled.ts'
import type { Agent } from '../server/wire.ts'
import './new-session.css'

/** The form. Ctrl and Enter send it. */
export function NewSessionPage(): ReactNode {
  const { answer: agents } = usePolled('agents', api.agents, { everyMs: 5000 })
  const [chosen, setAgent] = useState('')
  const [label, setLabel] = useState('')
  const [profile, setProfile] = useState('')
  const [message, setMessage] = useState('')
  const [busy, setBusy] = useState(false)
  const agent = chosen || first(agents)
  const profiles = agents?.find(({ name }) => name === agent)?.profiles ?? []

  const start = async (event?: FormEvent): Promise<void> => {
    event?.preventDefault()
    if (busy || agent === '') return
    setBusy(true)
    await attempt(async () => {
      const { id } = await api.createSession({
        agent,
        ...(label.trim() !== '' && { label: label.trim() }),
        ...(profile.trim() !== '' && { profile: profile.trim() }),
        ...(message.trim() !== '' && { message }),
      })
      go({ at: 'session', sessionId: id })
    })
    setBusy(false)
  }
  /** A profile of another agent is none of this one. */
  const choose = (name: string): void => {
    setAgent(name)
    if (profiles.includes(profile)) setProfile('')
  }
  const pressed = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void start()
  }
  return (
    <form className="new-session" onSubmit={(event) => void start(event)} onKeyDown={pressed}>
      <h1>New session</h1>
      <Agents agents={agents} agent={agent} onChange={choose} />
      <div className="two">
        <label>
          <span className="what">Label</span>
          <input value={label} maxLength={200} placeholder={agent} onChange={(event) => setLabel(event.target.value)} />
        </label>
        <label>
          <span className="what">Profile</span>
          <input
            value={profile}
            placeholder={profiles.length === 0 ? 'none' : 'none, or one of those below'}
            onChange={(event) => setProfile(event.target.value)}
          />
        </label>
      </div>
      <Profiles names={profiles} chosen={profile} onChange={setProfile} />
      <label>
        <span className="what">First message</span>
        <textarea
          rows={7}
          value={message}
          autoFocus
          placeholder="What should it do? Left empty, the session waits for you."
          onChange={(event) => setMessage(event.target.value)}
        />
      </label>
      <p className="ends">
        <button className="primary" disabled={busy || agent === ''}>
          Start
        </button>
        <a className="button" href={hrefOf({ at: 'roots' })}>
          Back
        </a>
        <span className="quiet">
          <kbd>Ctrl</kbd> <kbd>Enter</kbd> starts
        </span>
      </p>
    </form>
  )
}

function Agents(props: { agents: Agent[] | undefined; agent: string; onChange(agent: string): void }): ReactNode {
  const { agents, agent, onChange } = props
  if (!agents) return <p className="quiet">Loading the agents…</p>
  if (agents.length === 0)
    return <p className="quiet">No worker has served an agent yet: start one with `stello dev`.</p>
  return (
    <fieldset className="agent-choice">
      <legend>Agent</legend>
      {agents.map(({ name, served }) => (
        <label key={name} className={name === agent ? 'chosen' : ''}>
          <input type="radio" name="agent" checked={name === agent} onChange={() => onChange(name)} />
          <span>{name}</span>
          {!served && <span className="quiet">no worker serves it now: its session waits</span>}
        </label>
      ))}
    </fieldset>
  )
}

/** The profiles that the agent has. Another name can be typed: its worker may be newer than what is known here. */
function Profiles(props: { names: readonly string[]; chosen: string; onChange(name: string): void }): ReactNode {
  const { names, chosen, onChange } = props
  if (names.length === 0) return null
  return (
    <div className="profile-choice" role="group" aria-label="Profiles of the agent">
      {names.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === chosen}
          onClick={() => onChange(name === chosen ? '' : name)}
        >
          {name}
        </button>
      ))}
    </div>
  )
}

function first(agents: readonly Agent[] = []): string {
  return (agents.find(({ served }) => served) ?? agents[0])?.name ?? ''
}
