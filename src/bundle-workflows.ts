/** The code of the workflows as one file for the sandbox. */
import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleWithSourceMap } from '@temporalio/worker'

/**
 * Our workflow code keeps nothing in its modules, so all sessions of a worker share one copy of them (`preloadModules`)
 * instead of each session loading its own.
 *
 * @param folder the compiled or source folder `workflows`
 */
export function bundleWorkflows(folder: URL): Promise<WorkflowBundleWithSourceMap> {
  const workflowsPath = fileURLToPath(folder)
  return bundleWorkflowCode({
    workflowsPath,
    preloadModules: [fileURLToPath(new URL('stack-traces', `${folder.href}/`)), workflowsPath],
    logger: new DefaultLogger('WARN'),
  })
}
