/**
 * The folder for big files that all projects of a user share: the Temporal program, copies of PostgreSQL's programs.
 */
import { homedir } from 'node:os'
import { join } from 'node:path'

/** `XDG_CACHE_HOME`, else `~/.cache`, with our name. */
export function cacheFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'stello-temporal')
}
