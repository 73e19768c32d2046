/**
 * The floor: what Temporal alone needs for a turn of the same shape. The shape is one activity, then two activities at
 * the same time, then one activity.
 */
import { condition, defineSignal, defineUpdate, proxyActivities, setHandler } from '@temporalio/workflow'

interface EmptyActivities {
  model(): Promise<void>
  tool(): Promise<void>
}

const { model, tool } = proxyActivities<EmptyActivities>({
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '1 minute',
})

/** The caller waits for the turn inside the update. */
export const turnUpdate = defineUpdate('turn')
export const endSignal = defineSignal('end')

export async function floor(): Promise<void> {
  let ended = false
  setHandler(turnUpdate, async () => {
    await model()
    await Promise.all([tool(), tool()])
    await model()
  })
  setHandler(endSignal, () => void (ended = true))
  await condition(() => ended)
}
