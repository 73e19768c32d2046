/** The code of the workflows as one file for the sandbox. */
import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleWithSourceMap } from '@temporalio/worker'

const bundled = new Map<string, Promise<WorkflowBundleWithSourceMap>>()

/**
 * Once per process and folder; what failed is tried again when it is asked for again.
 *
 * @param folder the compiled or source folder `workflows`
 */
export function bundleWorkflows(folder: URL): Promise<WorkflowBundleWithSourceMap> {
  const known = bundled.get(folder.href)
  if (known) return known
  const bundle = bundleNow(folder)
  bundled.set(folder.href, bundle)
  bundle.catch(() => bundled.delete(folder.href))
  return bundle
}

/** From now on this is the bundle of that folder: made before, once for many processes. */
export function keepBundle(folder: URL, code: string): void {
  bundled.set(folder.href, Promise.resolve({ code, sourceMap: '' }))
}

/**
 * Our workflow code keeps nothing in its modules, so all sessions of a worker share one copy of them (`preloadModules`)
 * instead of each session loading its own.
 */
function bundleNow(folder: URL): Promise<WorkflowBundleWithSourceMap> {
  const workflowsPath = fileURLToPath(folder)
  return bundleWorkflowCode({
    workflowsPath,
    preloadModules: [fileURLToPath(new URL('stack-traces', `${folder.href}/`)), workflowsPath],
    logger: new DefaultLogger('WARN'),
    webpackConfigHook: (config) => {
      // Node's own object spread instead of the compiler's, as in the published package.
      for (const rule of config.module?.rules ?? []) {
        if (rule && typeof rule === 'object' && typeof rule.use === 'object' && rule.use && 'options' in rule.use) {
          const { options } = rule.use
          if (typeof options === 'object' && 'jsc' in options) options['jsc'].target = 'es2022'
        }
      }
      return config
    },
  })
}
