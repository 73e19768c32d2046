/** Builds programs with Go, which takes minutes. It reports its progress every 10 seconds. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

export interface GoInstallOptions {
  /** The `go` program. */
  go: string
  /** Each with its version; all of one Go module. */
  packages: string[]
  /** Where the programs go. */
  folder: string
  onProgress: (line: string) => void
}

/** @throws Error with Go's last line when the build fails. */
export async function goInstall({ go, packages, folder, onProgress }: GoInstallOptions): Promise<void> {
  onProgress(`go install ${packages.join(' ')}: takes minutes and about 3 GB of Go's caches, once`)
  const began = Date.now()
  let [modules, last] = [0, '']
  const ticker = setInterval(() => {
    onProgress(`go install: ${Math.round((Date.now() - began) / 1000)} s, ${modules} modules downloaded`)
  }, 10_000)
  try {
    // -s leaves the symbol table out, which saves 40 MB.
    const goFlags = `${process.env['GOFLAGS'] ?? ''} -ldflags=-s`.trim()
    const build = spawn(go, ['install', ...packages], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, GOBIN: folder, GOFLAGS: goFlags },
    })
    const ended = new Promise<number | null>((resolve, reject) => build.once('close', resolve).once('error', reject))
    createInterface(build.stderr).on('line', (line) => {
      if (line.startsWith('go: downloading')) modules += 1
      last = line
    })
    const code = await ended
    if (code !== 0) throw new Error(`exited with code ${code}: ${last}`)
  } finally {
    clearInterval(ticker)
  }
}
