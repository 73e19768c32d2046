/** Rules for a whole server also speak of the calls that reach it by an argument. */
import type { PackContext } from '../../agent/capability-pack.ts'
import type { Ruled, Touch } from '../../tool/touch.ts'

/** What a call touches that names a server. */
export function touchedServer(server: string | undefined): Touch[] {
  return server === undefined ? [] : [{ kind: 'server', server }]
}

/** What the rules say of a server that no argument has named. */
export function ruledServer(session: PackContext, server: string): Ruled['decision'] | undefined {
  return session.ruled?.(`mcp__${server}`, { kind: 'server', server })?.decision
}
