/**
 * A program beside the tools. It puts a link in the place of a folder and takes it away again, without end, as fast as
 * it can. `workerData`: the folder, where the folder is put meanwhile, and where the link leads.
 */
import { existsSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'

const [folder, aside, target] = workerData

/** Throws if a tool has made the folder again meanwhile. The folder that is aside is then put back at the next try. */
function swap() {
  if (existsSync(aside)) {
    rmSync(folder, { recursive: true, force: true })
    renameSync(aside, folder)
  }
  renameSync(folder, aside)
  symlinkSync(target, folder)
  rmSync(folder)
  renameSync(aside, folder)
}

parentPort.postMessage('ready')
for (;;) {
  try {
    swap()
  } catch {
    // Once more.
  }
}
