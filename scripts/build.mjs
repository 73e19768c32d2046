#!/usr/bin/env node
/**
 * Builds `dist/`: JavaScript and types by tsc, the workflow bundle, and the page. Workers load the bundle instead of
 * making one at their start.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')

const kilobytes = (bytes) => `${Math.round(bytes / 1024)} KB`

function filesOf(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const bytes = files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0)
  return `${files.length} files, ${kilobytes(bytes)}`
}

async function timed(what, work) {
  const begun = performance.now()
  const outcome = await work()
  console.log(`${what}: ${outcome} (${((performance.now() - begun) / 1000).toFixed(1)} s)`)
}

await timed('tsc', () => {
  rmSync(dist, { recursive: true, force: true })
  const tsc = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  })
  if (tsc.status !== 0) {
    console.error('tsc failed: dist/ is not complete')
    process.exit(1)
  }
  return filesOf(dist)
})

/** The bundler and the worker that loads the bundle must have the same version, so both are pinned to one number. */
await timed('workflow bundle', async () => {
  const { bundleWorkflows } = await import(pathToFileURL(join(dist, 'worker/bundle-workflows.js')).href)
  const { code } = await bundleWorkflows(pathToFileURL(join(dist, 'workflows')))
  writeFileSync(join(dist, 'workflow-bundle.js'), code)
  return kilobytes(Buffer.byteLength(code))
})

await timed('page', async () => {
  const { build } = await import('vite')
  await build({ configFile: join(root, 'src/web/vite.config.ts') })
  return filesOf(join(dist, 'web'))
})

chmodSync(join(dist, 'cli/main.js'), 0o755)
