/** Entry `stello-temporal/client`. */
export { connectStello, findServers, type ConnectOptions, type Servers } from './connect.ts'
export type { CreateSessionOptions, StelloClient } from './stello-client.ts'
export type { SessionHandle, SessionStats } from './session-handle.ts'
export type { ResultOptions, TurnHandle, TurnResult } from './turn-handle.ts'
export type { StelloEvent, WatchOptions } from './watch.ts'
export type { SessionTree } from './tree.ts'
export type { SessionFilter, SessionSummary } from '../store/topology.ts'
export { StelloError, isStelloError } from '../agent/errors.ts'
