/** Rules for a whole server are also about calls that reach it by an argument. */
import type { PackContext } from '../../agent/capability-pack.ts'
import type { Ruled, Touch } from '../../tool/touch.ts'

/** The touch of a call that names a server. */
export function touchedServer(server: string | undefined): Touch[] {
  return server === undefined ? [] : [{ kind: 'server', server }]
}

/** The rule about a server that no argument has named. */
export function ruledServer(session: PackContext, server: string): Ruled['decision'] | undefined {
  return session.ruled?.(`mcp__${server}`, { kind: 'server', server })?.decision
}
