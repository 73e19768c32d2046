/**
 * A program beside the tools: it puts a link in the place of a folder and takes it away again, without end, as fast as it
 * can. `workerData`: the folder, where it is put meanwhile, where the link leads.
 */
import { renameSync, rmSync, symlinkSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'

const [folder, aside, target] = workerData

function swap() {
  renameSync(folder, aside)
  try {
    symlinkSync(target, folder)
    rmSync(folder)
    renameSync(aside, folder)
  } catch {
    // A tool has made the folder anew meanwhile.
    rmSync(folder, { recursive: true, force: true })
    renameSync(aside, folder)
  }
}

parentPort.postMessage('ready')
for (;;) {
  try {
    swap()
  } catch {
    // The same, a moment later.
  }
}
