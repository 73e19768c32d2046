/** The pack of tools that use pages: a browser behind each worker, a page for each session. */
import type { CapabilityPack } from '../../agent/capability-pack.ts'
import { toMs, type Duration } from '../../core/duration.ts'
import type { Tool } from '../../tool/tool.ts'
import { networkGuard } from '../network/network-guard.ts'
import { browserTools } from './browser-tools.ts'
import { demandChromium, launchChromium } from './chromium.ts'
import { SessionPages } from './session-pages.ts'

/** Options of `browser`. */
export interface BrowserOptions {
  /** Hosts that pages may come from and may load from, whatever their address is. Like `allow` of `web`. */
  allow?: readonly string[]
  /** The program. Default: the Chromium or Chrome that is on the PATH. */
  executablePath?: string
  /** How long the page of a session stays open without being used. Default 10 minutes. */
  idleTimeout?: Duration
}

/**
 * The tools BrowserOpen, BrowserRead, BrowserClick, BrowserType and BrowserScreenshot. They need the package
 * `playwright-core` and an installed Chromium; without them the worker does not start.
 *
 * @throws StelloError INVALID_ARGUMENT when an entry of `allow` is no host, or `idleTimeout` no duration
 * @example
 * defineProfile({ id: 'clerk', agent: { model: 'anthropic:claude-sonnet-5' }, capabilities: [browser()] })
 */
export function browser(options: BrowserOptions = {}): CapabilityPack & { tools: readonly Tool[] } {
  const { allow = [], executablePath, idleTimeout = '10m' } = options
  const guard = networkGuard({ allow, where: 'browser' })
  const pages = new SessionPages({
    launch: () => launchChromium(guard, executablePath),
    idleMs: toMs(idleTimeout, 'browser: idleTimeout'),
  })
  return {
    name: 'browser',
    tools: browserTools({ pages, guard }),
    open: async () => void (await demandChromium(executablePath)),
    close: () => pages.close(),
  }
}
