/** Lets the living worker that has a step in hand end it, before somebody else ends it from outside. */
import { setTimeout as delay } from 'node:timers/promises'
import { isAlive } from '../../store/liveness.ts'
import { readHolder } from '../../store/settle.ts'
import type { Deps } from '../deps.ts'
import type { Attempt } from './attempt.ts'

/** A worker tries every 250 ms to settle what it kept while the store was away. */
const LOOK_EVERY_MS = 250
/** 2 s in all: an activity that ends a step has 10. */
const LOOKS = 8

/** Resolves when the step has ended, nobody who lives has it in hand, or its holder has had its chance. */
export async function awaitHolder({ db }: Pick<Deps, 'db'>, { run }: Pick<Attempt, 'run'>, key: string): Promise<void> {
  for (let look = 0; look < LOOKS; look++) {
    const holder = await readHolder(db, run, key)
    if (holder === undefined || !(await isAlive(db, holder))) return
    await delay(LOOK_EVERY_MS)
  }
}
