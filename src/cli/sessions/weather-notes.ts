/** Tells a person who waits for an answer that a provider is away, once in an outage. */
import { setTimeout as delay } from 'node:timers/promises'
import type { SessionHandle } from '../../client/index.ts'
import type { Context } from '../commands/command-context.ts'
import { weatherText } from '../output/format.ts'

const LOOK_EVERY_MS = 2000

/** Ends with the signal. Never fails: these are only remarks. */
export async function keepNotingWeather({ out }: Context, session: SessionHandle, signal: AbortSignal): Promise<void> {
  let told: string | undefined
  while (!signal.aborted) {
    const weather = await session.state().then(
      (state) => state.weather,
      () => undefined,
    )
    const outage = weather && `${weather.provider} ${weather.since.toISOString()}`
    if (weather && outage !== told) {
      told = outage
      out.noteOf(weather, (shown) => `${weatherText(shown)}; it goes on by itself`)
    }
    await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
}
