/** In which folders the next command of a script may run: a `cd` may come to be run, and may fail. */
import type { Word } from './word.ts'

/** Undefined: not known. */
export type Cwds = readonly string[] | undefined

/** More are not followed. */
const MOST = 8

/** The folders after a `cd`. It may fail, so the old ones stay possible; the new ones stand behind them. */
export function changed([name, target, ...more]: readonly Word[], cwds: Cwds): Cwds {
  if (name?.text !== 'cd' || !cwds || more.length > 0) return undefined
  if (!target?.known || target.glob || target.home || /^[-+]/.test(target.text) || target.text === '') return undefined
  const moved = cwds.map((cwd) => resolved(cwd, target.text))
  return moved.length + cwds.length > MOST ? undefined : [...cwds, ...moved]
}

/** As the shell does it: `..` takes away the name before, also where that is a link. */
function resolved(cwd: string, path: string): string {
  const parts: string[] = []
  for (const part of (path.startsWith('/') ? path : `${cwd}/${path}`).split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `/${parts.join('/')}`
}

export function either(one: Cwds, other: Cwds): Cwds {
  if (!one || !other) return undefined
  const both = [...new Set([...one, ...other])]
  return both.length > MOST ? undefined : both
}
