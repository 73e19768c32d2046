/** The code of the workflows as one file for the sandbox: ours alone, or ours and those of the user. */
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  bundleWorkflowCode,
  DefaultLogger,
  type BundleOptions,
  type WorkflowBundleOption,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker'
import { SESSION_WORKFLOW } from '../protocol/session-input.ts'

/** What the sandbox contains beside the workflow of the sessions. Every path is absolute. */
export interface WorkflowSources extends Pick<
  BundleOptions,
  'workflowInterceptorModules' | 'payloadConverterPath' | 'failureConverterPath' | 'ignoreModules' | 'webpackConfigHook'
> {
  /** Own workflows: a file, or a folder with an index. None may be named `session`. */
  workflowsPath?: string | undefined
}

type Webpack = Parameters<NonNullable<BundleOptions['webpackConfigHook']>>[0]

const OURS = new URL('../workflows', import.meta.url)

/**
 * Our workflow and the user's in one bundle, for `workflowBundle` of a worker, a replay, or a build. The package
 * contains a bundle of ours alone, which is used when nothing else is requested.
 *
 * @throws Error of Temporal's bundler, which names what cannot be bundled
 * @example
 * const workflowBundle = await bundleStelloWorkflows({ workflowsPath: fileURLToPath(new URL('./workflows.ts', import.meta.url)) })
 */
export async function bundleStelloWorkflows(sources: WorkflowSources = {}): Promise<WorkflowBundleOption> {
  if (Object.values(sources).some((each) => each !== undefined)) return bundleNow(OURS, sources)
  const prebuilt = fileURLToPath(new URL('../workflow-bundle.js', import.meta.url))
  return existsSync(prebuilt) ? { codePath: prebuilt } : bundleWorkflows(OURS)
}

const bundled = new Map<string, Promise<WorkflowBundleWithSourceMap>>()

/**
 * Builds once per process and folder. A build that failed is tried again at the next request.
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
 * instead of each session loading its own. The user's modules are loaded by each of their workflows, as usual.
 */
async function bundleNow(folder: URL, sources: WorkflowSources = {}): Promise<WorkflowBundleWithSourceMap> {
  const { workflowsPath: theirs, webpackConfigHook, ...more } = sources
  const ours = fileURLToPath(folder)
  const joint = theirs === undefined ? undefined : await writeJoint(`${ours}/index`, theirs)
  try {
    return await bundleWorkflowCode({
      ...more,
      workflowsPath: ours,
      preloadModules: [`${ours}/stack-traces`, `${ours}/index`],
      logger: new DefaultLogger('WARN'),
      webpackConfigHook(config) {
        keepSpread(config)
        // Half of our bundle would be our sources, which each worker would read at its start. Stack traces do not need them.
        if (theirs === undefined) config.devtool = 'inline-nosources-source-map'
        const put = joint && { [`${ours}$`]: joint.file }
        config.resolve = { ...config.resolve, alias: Object.assign({}, config.resolve?.alias, put) }
        return webpackConfigHook?.(config) ?? config
      },
    })
  } finally {
    await joint?.remove()
  }
}

/** The bundler asks for our folder and finds Temporal's packages from there. This module takes its place. */
async function writeJoint(ours: string, theirs: string): Promise<{ file: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'stello-workflows-'))
  const file = join(folder, 'index.cjs')
  const name = JSON.stringify(SESSION_WORKFLOW)
  await writeFile(
    file,
    `const theirs = require(${JSON.stringify(theirs)})
if (${name} in theirs) throw new Error('a workflow of yours is named ' + ${name} + ', as the one of the sessions is: rename it')
module.exports = { ...theirs, ...require(${JSON.stringify(ours)}) }
`,
  )
  return { file, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** Node's own object spread instead of the compiler's, as in the published package. */
function keepSpread(config: Webpack): void {
  for (const rule of config.module?.rules ?? []) {
    if (rule && typeof rule === 'object' && typeof rule.use === 'object' && rule.use && 'options' in rule.use) {
      const { options } = rule.use
      if (typeof options === 'object' && 'jsc' in options) options['jsc'].target = 'es2022'
    }
  }
}
