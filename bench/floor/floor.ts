/** A worker and a client for the workflow that is the floor of all measurements. */
import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker'
import type { WorkflowHandle } from '@temporalio/client'
import { newName, type World } from '../world.ts'
import { installRuntime } from '../../src/worker/runtime.ts'
import { endSignal, turnUpdate } from './workflow.ts'

export interface Floor {
  open(): Promise<FloorSession>
  stop(): Promise<void>
}

export interface FloorSession {
  turn(): Promise<unknown>
  end(): Promise<void>
}

export async function startFloor(world: World): Promise<Floor> {
  await installRuntime()
  const taskQueue = newName('floor')
  const connection = await NativeConnection.connect({ address: world.temporalAddress })
  const empty = async (): Promise<void> => undefined
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('./workflow.ts', import.meta.url)),
      logger: new DefaultLogger('WARN'),
    }),
    activities: { model: empty, tool: empty },
    maxCachedWorkflows: 200,
    maxConcurrentActivityTaskExecutions: 100,
  })
  const running = worker.run()
  return {
    async open() {
      const handle: WorkflowHandle = await world.temporal.workflow.start('floor', {
        taskQueue,
        workflowId: newName('floor'),
      })
      return { turn: () => handle.executeUpdate(turnUpdate), end: () => handle.signal(endSignal) }
    },
    async stop() {
      worker.shutdown()
      await running
      await connection.close()
    },
  }
}
