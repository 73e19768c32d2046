/** When a process started: a pid alone does not identify it, since pids are used again. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** @returns text that is compared only; undefined when no such process lives. A zombie counts as dead. */
export function startOf(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux') {
      const said = execFileSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)])
        .toString()
        .trim()
      return said.startsWith('Z') ? undefined : said.replace(/^\S+\s+/, '')
    }
    // The second field, the name of the command, may contain spaces and parentheses.
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, ...fields] = line.slice(line.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' || state === 'X' ? undefined : fields[18]
  } catch {
    return undefined
  }
}
