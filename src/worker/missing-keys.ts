/** Which keys of models are missing when a worker starts: a warning, because a session that asks such a model pauses. */
import type { Model } from '../core/model.ts'
import type { StelloAgent } from '../agent/agent.ts'

/** A line for each variable, which names the models that want it. Empty: nothing is missing, as far as the models can tell. */
export function missingKeys({ llm, profiles }: Pick<StelloAgent, 'llm' | 'profiles'>): string[] {
  const models = [llm, ...[...profiles.values()].flatMap((profile) => profile.llm ?? [])].flatMap(eachOf)
  const wanted = new Map<string, Set<string>>()
  for (const model of models) {
    const variable = model.missingKey?.()
    if (variable !== undefined) wanted.set(variable, (wanted.get(variable) ?? new Set()).add(model.name))
  }
  return [...wanted].map(
    ([variable, names]) =>
      `${variable} is not set: sessions that ask ${[...names].join(', ')} will pause; set it, in .env too, and start the worker again`,
  )
}

const eachOf = (model: Model): readonly Model[] => model.fallback?.models ?? [model]
