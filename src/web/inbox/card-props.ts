/** What every card of the inbox is given. */
import type { AnswerOptions } from '../../client/index.ts'
import type { Waiting } from '../server/wire.ts'

/** The kinds of things that wait for a person. */
export type WaitingKind = Waiting['kind']

/** A question of any kind, or a pause. */
export type WaitingQuestion = Exclude<Waiting, { kind: 'paused' }>
export type WaitingPause = Extract<Waiting, { kind: 'paused' }>

/** `answer` sends it, shows how it fails, and says whether it was taken. */
export interface QuestionCardProps {
  item: WaitingQuestion
  busy: boolean
  answer(answer: AnswerOptions): Promise<boolean>
}

/** `resume` goes on with the session, or with its whole tree. */
export interface PauseCardProps {
  item: WaitingPause
  busy: boolean
  resume(options: { tree?: boolean }): Promise<boolean>
}
