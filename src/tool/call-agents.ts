/** What a tool may do with agents: child sessions that stay where they are, and may be asked again and again. */

/**
 * What an agent is doing. `pending_init`: it was not asked yet, or begins. `completed`: it has answered. `errored`: its
 * last turn ended without an answer. `paused`: a person must look at it. `shutdown`: it is closed; a message opens it
 * again. `not_found`: this session has no such agent.
 */
export type AgentStatus = 'pending_init' | 'running' | 'completed' | 'errored' | 'paused' | 'shutdown' | 'not_found'

/** An agent as a look finds it. */
export interface AgentView {
  /** Its address, which is the id of its session. */
  id: string
  /** What it is doing. */
  status: AgentStatus
  /** Its name for people. */
  label: string
  /** Its fork profile. */
  profile?: string
  /** Its last answer, or why there is none. */
  text?: string
}

/** An agent to be. */
export interface NewAgent {
  /** Its name for people, 1 to 200 characters. */
  label: string
  /** Its first message. Unset: it waits for one. */
  message?: string
  /** The fork profile. It must be one that this session may fork into. Default: the session's own. */
  profile?: string
  /** What the profile's `systemPrompt` function is called with. */
  vars?: Record<string, string>
  /** Whether it begins with the conversation of this session. Default `none`. */
  context?: 'none' | 'inherit'
  /** When it has finished and this session does not wait for it, the session gets a message. Default false. */
  notifies?: boolean
}

/** A wait for agents. */
export interface AgentWait {
  /** `any`: until one has finished. `all`: until all have. Default `all`. */
  match?: 'any' | 'all'
  /** `finished`: the agent has nothing to do. `closed`: it is closed. Default `finished`. */
  until?: 'finished' | 'closed'
  /** Milliseconds. Unset: no limit. 0: a look. */
  timeoutMs?: number
  /** The agents work for this call alone: when the turn is stopped, they are stopped too. Default false. */
  owned?: boolean
}

/** How a wait ended. */
export interface AgentsWaited {
  /** All agents that were waited for, in the order in which they were named. */
  agents: AgentView[]
  /** The time was over first. */
  timedOut: boolean
}

/**
 * The agents of the session: each is a child session with an address that stays. One that failed, timed out or was closed
 * may be asked again, with all that it knows.
 */
export interface CallAgents {
  /**
   * Makes an agent. A call that runs again makes the same agent, not another one.
   *
   * @throws StelloError TOOL_VALIDATION_ERROR when there is no such profile; TREE_LIMIT when the tree is full
   * @example const { id } = await ctx.agents.spawn({ label: 'reader', message: 'Read the paper' })
   */
  spawn(agent: NewAgent): Promise<{ id: string }>
  /**
   * Sends an agent a message. A closed agent is opened again. A call that runs again sends no second message.
   *
   * @param options `interrupt`: its turn is stopped first. `key`: all messages of this session with the same key are one
   * @throws StelloError TOOL_VALIDATION_ERROR when this session has no such agent
   * @example await ctx.agents.send(id, 'And the second paper?', { interrupt: true })
   */
  send(id: string, message: string, options?: { interrupt?: boolean; key?: string }): Promise<{ messageId: string }>
  /**
   * Waits without a worker, for days if need be: the attempt ends here, and when an agent has finished, the call runs
   * again from its beginning, up to here. So what comes before must do no harm when it is repeated.
   *
   * @param ids at most 16
   * @throws StelloError TOOL_VALIDATION_ERROR when there are more
   * @example const { agents, timedOut } = await ctx.agents.wait([id], { timeoutMs: 60_000 })
   */
  wait(ids: readonly string[], options?: AgentWait): Promise<AgentsWaited>
  /**
   * What these agents do now, in the order of the ids. An id that this session does not know is `not_found`.
   *
   * @throws StelloError STORE_UNAVAILABLE
   * @example const [view] = await ctx.agents.look([id])
   */
  look(ids: readonly string[]): Promise<AgentView[]>
  /**
   * Closes an agent and everything below it. A closed one stays closed.
   *
   * @returns what it was doing before
   * @throws StelloError TOOL_VALIDATION_ERROR when this session has no such agent
   * @example if ((await ctx.agents.close(id)) === 'running') console.log('it was stopped in the middle')
   */
  close(id: string): Promise<AgentStatus>
}
