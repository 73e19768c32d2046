/** Reads what other workflows and activities report to a session. Undefined: it is no such report. */
import { readCallKey } from '../protocol/keys.ts'
import type { ChildReport, WeatherReport } from '../protocol/steps.ts'

export function readReport(input: unknown): ChildReport | undefined {
  if (typeof input !== 'object' || input === null) return undefined
  const { childId, childGen, childTurn, callKey } = input as Partial<Record<string, unknown>>
  if (typeof childId !== 'string' || !/^[\w.-]{1,100}$/.test(childId)) return undefined
  if (typeof callKey !== 'string' || !readCallKey(callKey)) return undefined
  if (!Number.isSafeInteger(childGen) || !Number.isSafeInteger(childTurn)) return undefined
  return { childId, callKey, childGen: childGen as number, childTurn: childTurn as number }
}

export function readWeather(input: unknown): WeatherReport | undefined {
  if (typeof input !== 'object' || input === null) return undefined
  const { turn, round, provider, why, since } = input as Partial<Record<string, unknown>>
  if (!Number.isSafeInteger(turn) || !Number.isSafeInteger(round)) return undefined
  if (typeof provider !== 'string' || typeof why !== 'string' || typeof since !== 'string') return undefined
  return { turn: turn as number, round: round as number, provider, why, since }
}
