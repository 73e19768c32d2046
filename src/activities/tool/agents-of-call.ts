/**
 * `ctx.agents` of one call. Everything but a wait happens at once and may be repeated. A wait that is not over ends the
 * attempt. The step is given back, and the workflow remembers which agents the call waits for. When one of them has
 * told something, the call runs again from its beginning. So a wait needs no worker, and no memory of this process.
 */
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { StelloError } from '../../core/errors.ts'
import { agentMessageId } from '../../protocol/keys.ts'
import type { Awaits } from '../../protocol/steps.ts'
import { readAgentRows, type AgentRow } from '../../store/sessions/agent-sessions.ts'
import type { AgentStatus, AgentView, AgentWait, AgentsWaited, CallAgents, NewAgent } from '../../tool/call-agents.ts'
import { closeAgent, sendToAgent, spawnAgent } from '../child/agent-workflows.ts'
import type { Deps } from '../deps.ts'
import { describeWorkflow } from '../../temporal/describe-workflow.ts'
import type { CallAtHand } from './call-at-hand.ts'

const AGENTS_LIMIT = 16
/** A closed agent can be opened again at once if the close was waited for; a long step delays it. */
const CLOSED_WITHIN_MS = 10_000
const LOOK_EVERY_MS = 200
/** Ten years. */
const FOR_EVER_MS = 10 * 365 * 24 * 60 * 60 * 1000
const GONE = 'it was ended from outside; a message lets it go on'

/** The attempt ends here: the call waits. */
export interface AwaitsAgents {
  awaits: Awaits
  /** The results of the waits before this one. */
  found: readonly AgentsWaited[]
}

export class AgentsOfCall implements CallAgents {
  /** Resolves when the attempt ends with a wait. */
  readonly interrupted: Promise<AwaitsAgents>
  /** Fires then: the tool's code goes no further. */
  readonly over: AbortSignal
  readonly #deps: Deps
  readonly #at: CallAtHand
  readonly #found: AgentsWaited[]
  readonly #counts = { spawned: 0, sent: 0, waits: 0 }
  #interrupt: (why: AwaitsAgents) => void = () => undefined
  #lastWait: Promise<unknown> = Promise.resolve()

  /** @param found the results of waits that ended in an earlier attempt: the agents may do something else by now */
  constructor(deps: Deps, at: CallAtHand, found: readonly AgentsWaited[] = []) {
    this.#deps = deps
    this.#at = at
    this.#found = [...found]
    const over = new AbortController()
    this.over = over.signal
    this.interrupted = new Promise((resolve) => {
      this.#interrupt = (why) => {
        resolve(why)
        over.abort('the call waits for agents')
      }
    })
  }

  async spawn({ message, notifies = false, ...request }: NewAgent): Promise<{ id: string }> {
    const nth = this.#counts.spawned++
    return { id: await spawnAgent(this.#deps, this.#at, { request, message, notifies, nth }) }
  }

  async send(
    id: string,
    text: string,
    { interrupt = false, key }: { interrupt?: boolean; key?: string } = {},
  ): Promise<{ messageId: string }> {
    const { sessionId } = this.#at.input
    const nth = this.#counts.sent++
    await this.#mustBeMine(id)
    const from = key === undefined ? [this.#at.hash, this.#at.input.key, nth] : [sessionId, key]
    const messageId = agentMessageId(createHash('sha256').update(JSON.stringify(from)).digest('hex').slice(0, 24))
    await sendToAgent(this.#deps, id, { messageId, text, interrupt })
    return { messageId }
  }

  /** Waits run one after another, because an attempt that ends with a wait says that all waits before it are over. */
  wait(ids: readonly string[], wanted: AgentWait = {}): Promise<AgentsWaited> {
    const nth = this.#counts.waits++
    const waited = this.#lastWait.then(() => this.#wait(nth, ids, wanted))
    this.#lastWait = waited.catch(() => undefined)
    return waited
  }

  async #wait(nth: number, ids: readonly string[], wanted: AgentWait): Promise<AgentsWaited> {
    const found = this.#found[nth]
    if (found && isDeepStrictEqual(idsOf(found), [...ids])) return found
    const { match = 'all', timeoutMs, owned = false } = wanted
    if (ids.length > AGENTS_LIMIT) throw invalid(`a call waits for at most ${AGENTS_LIMIT} agents, not ${ids.length}`)
    const looked = await this.look(ids)
    const gone = await this.#gone(looked.filter(({ status }) => !hasEnded(status, wanted)))
    const agents = looked.map((agent) => gone.get(agent.id) ?? agent)
    const open = agents.filter(({ id, status }) => !gone.has(id) && !hasEnded(status, wanted))
    const enough = match === 'any' ? open.length < agents.length || agents.length === 0 : open.length === 0
    const { waited } = this.#at.input
    const before = waited && nth < waited.nth
    const over = before === true || (waited?.nth === nth && waited.over === true) || timeoutMs === 0
    if (enough || over) return (this.#found[nth] = { agents, timedOut: !enough })
    const { until } = waited?.nth === nth ? waited : {}
    const leftMs = waited?.nth === nth ? undefined : endingIn(timeoutMs)
    const awaits: Awaits = {
      nth,
      agents: open.map(({ id }) => id),
      ...(until && { until }),
      ...(leftMs !== undefined && { leftMs }),
      ...(owned && { stops: true }),
    }
    this.#interrupt({ awaits, found: this.#found.slice(0, nth) })
    // An error could be caught, and the code after it would then run while the call waits.
    return new Promise<never>(() => {})
  }

  async look(ids: readonly string[]): Promise<AgentView[]> {
    const rows = await readAgentRows(this.#deps.db, this.#at.input.sessionId, ids)
    return ids.map((id) =>
      toView(
        id,
        rows.find((row) => row.id === id),
      ),
    )
  }

  async close(id: string): Promise<AgentStatus> {
    const [view] = await this.look([id])
    if (!view || view.status === 'not_found') throw unknownAgent(id)
    await closeAgent(this.#deps, id)
    const until = performance.now() + CLOSED_WITHIN_MS
    while (performance.now() < until && (await this.look([id]))[0]?.status !== 'shutdown') {
      await delay(LOOK_EVERY_MS)
    }
    return view.status
  }

  async #mustBeMine(id: string): Promise<void> {
    const [row] = await readAgentRows(this.#deps.db, this.#at.input.sessionId, [id])
    if (!row) throw unknownAgent(id)
  }

  /** The workflow of an agent that is open may have been ended from outside: then the agent will tell nothing, not even its close. */
  async #gone(open: readonly AgentView[]): Promise<Map<string, AgentView>> {
    const looked = await Promise.all(
      open.map(async (agent): Promise<[string, AgentView][]> => {
        const workflow = await describeWorkflow(this.#deps.client, agent.id)
        const runs = workflow?.status.name === 'RUNNING' || workflow?.status.name === 'CONTINUED_AS_NEW'
        return runs ? [] : [[agent.id, { ...agent, status: 'errored', text: GONE }]]
      }),
    )
    return new Map(looked.flat())
  }
}

/** @returns undefined: the wait has no end. Dates and Temporal's timers end before numbers do */
function endingIn(timeoutMs: number | undefined): number | undefined {
  return timeoutMs !== undefined && timeoutMs < FOR_EVER_MS ? timeoutMs : undefined
}

function idsOf({ agents }: AgentsWaited): string[] {
  return agents.map(({ id }) => id)
}

function toView(id: string, row: AgentRow | undefined): AgentView {
  if (!row) return { id, status: 'not_found', label: '' }
  const { label, profile, pause, text } = row
  const status = statusOf(row)
  const shown = status === 'paused' ? pause : status === 'running' || status === 'pending_init' ? null : text
  return { id, status, label, ...(profile !== null && { profile }), ...(shown !== null && { text: shown }) }
}

function statusOf({ closed, pause, busy, stop_reason: stopReason }: AgentRow): AgentStatus {
  if (closed) return 'shutdown'
  if (busy) return pause === null ? 'running' : 'paused'
  switch (stopReason) {
    case null:
      return 'pending_init'
    case 'cancelled':
    case 'closed':
    case 'refused':
      return 'errored'
    case 'end_turn':
    case 'completed':
    case 'max_tool_rounds':
    case 'max_tokens':
      return 'completed'
  }
}

/** An agent that was asked nothing has nothing to do. */
function hasEnded(status: AgentStatus, { until = 'finished' }: AgentWait): boolean {
  if (status === 'shutdown' || status === 'not_found') return true
  return until === 'finished' && status !== 'running' && status !== 'paused'
}

function unknownAgent(id: string): StelloError {
  return invalid(`this session has no agent "${id}": give the id that spawning it returned`)
}

function invalid(message: string): StelloError {
  return new StelloError('TOOL_VALIDATION_ERROR', message)
}
