/** Checks the pieces that stream in from a model. They are shown and never stored, so an invalid piece is left out. */
import { AnswerSize } from './answer-size.ts'
import type { ModelDelta } from '../../core/model.ts'
import { CALLS_LIMIT } from './model-answer.ts'

export interface Deltas {
  take(delta: ModelDelta): void
  /** Called once, when the answer is too long. Nothing is passed on after that. */
  tooLong(error: unknown): void
}

/** Makes the `onDelta` for a model. It never throws, whatever it is given. @param model its name */
export function readDeltas(model: string, { take, tooLong }: Deltas): (given: unknown) => void {
  const size = new AnswerSize(model)
  let over = false
  return (given) => {
    const delta = over ? undefined : toDelta(given)
    if (!delta) return
    try {
      size.add(delta.type === 'toolCall' ? delta.arguments : delta.text)
    } catch (error) {
      over = true
      return tooLong(error)
    }
    take(delta)
  }
}

function toDelta(given: unknown): ModelDelta | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const { type, text, index, id, name, arguments: args } = given as Partial<Record<string, unknown>>
  if (type === 'text' || type === 'reasoning') return typeof text === 'string' ? { type, text } : undefined
  if (type !== 'toolCall' || typeof args !== 'string' || !isIndex(index)) return undefined
  return {
    type,
    index,
    arguments: args,
    ...(typeof id === 'string' && { id }),
    ...(typeof name === 'string' && { name }),
  }
}

/** Only calls that may be accepted are shown. */
function isIndex(index: unknown): index is number {
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < CALLS_LIMIT
}
