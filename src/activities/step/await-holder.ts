/** Gives the living worker that holds a step time to end it, before somebody else ends it from outside. */
import { setTimeout as delay } from 'node:timers/promises'
import { isAlive } from '../../store/ledger/liveness.ts'
import { readHolder } from '../../store/ledger/settle.ts'
import type { Deps } from '../deps.ts'
import type { Attempt } from './attempt.ts'

/** A worker that could not reach the store tries again every 250 ms to settle its step. */
const LOOK_EVERY_MS = 250
/** 2 s in all. An activity that ends a step has 10 s. */
const LOOKS = 8

/** Resolves when the step has ended, when no living worker holds it, or when its holder has had enough time. */
export async function awaitHolder({ db }: Pick<Deps, 'db'>, { run }: Pick<Attempt, 'run'>, key: string): Promise<void> {
  for (let look = 0; look < LOOKS; look++) {
    const holder = await readHolder(db, run, key)
    if (holder === undefined || !(await isAlive(db, holder))) return
    await delay(LOOK_EVERY_MS)
  }
}
