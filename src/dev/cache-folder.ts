/** What is big and the same for every project of a user: the Temporal program, copies of PostgreSQL's. */
import { homedir } from 'node:os'
import { join } from 'node:path'

/** `XDG_CACHE_HOME`, else `~/.cache`, with our name. */
export function cacheFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'stello-temporal')
}
