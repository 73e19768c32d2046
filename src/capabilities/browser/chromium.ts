/** The browser: an installed Chromium, which asks for everything through the guard and knows nothing of the worker. */
import { access, constants } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Browser, BrowserType } from 'playwright-core'
import { StelloError } from '../../core/errors.ts'
import { startGuardedProxy } from '../network/guarded-proxy.ts'
import type { NetworkGuard } from '../network/network-guard.ts'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']
/** Turns off everything that would go past the proxy: connections to this machine, answers of DNS, calls between browsers, another protocol. */
const NOTHING_PAST = [
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
]

/** @throws StelloError INVALID_ARGUMENT when playwright-core or the program is missing, with what to install */
export async function launchChromium(guard: NetworkGuard, executablePath?: string): Promise<Browser> {
  const { chromium, program } = await demandChromium(executablePath)
  const proxy = await startGuardedProxy(guard)
  try {
    const browser = await chromium.launch({
      executablePath: program,
      // As root Chromium does not start with its own sandbox.
      chromiumSandbox: process.getuid?.() !== 0,
      args: NOTHING_PAST,
      proxy: { server: proxy.server },
      env: { PATH: process.env['PATH'], HOME: tmpdir(), LANG: 'C.UTF-8' },
      handleSIGHUP: false,
      handleSIGINT: false,
      handleSIGTERM: false,
    })
    browser.once('disconnected', () => void proxy.close())
    return browser
  } catch (error) {
    await proxy.close()
    throw error
  }
}

/** The package and the program that a browser needs. @throws StelloError INVALID_ARGUMENT, with what to install */
export async function demandChromium(executablePath?: string): Promise<{ chromium: BrowserType; program: string }> {
  const { chromium } = await import('playwright-core').catch(() => {
    throw new StelloError('INVALID_ARGUMENT', 'browser() needs the package playwright-core, which is not installed', {
      hint: 'run `npm install playwright-core` where the worker runs, and restart it',
    })
  })
  return { chromium, program: await installedChromium(executablePath) }
}

/** @throws StelloError INVALID_ARGUMENT when there is none */
export async function installedChromium(given?: string, path: string = process.env['PATH'] ?? ''): Promise<string> {
  const found = path.split(delimiter).flatMap((folder) => (folder ? NAMES.map((name) => join(folder, name)) : []))
  for (const program of given === undefined ? found : [given]) if (await isProgram(program)) return program
  throw new StelloError(
    'INVALID_ARGUMENT',
    `browser() has found no Chromium ${given === undefined ? 'on the PATH' : `at ${given}`}`,
    {
      hint: 'install chromium, or give browser({ executablePath })',
    },
  )
}

function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}
