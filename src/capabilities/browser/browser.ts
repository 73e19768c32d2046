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
  /** How long the server of a page may not answer. The page is given up then, and the one before stays. Default 30 s. */
  pageTimeout?: Duration
}

/**
 * The tools BrowserOpen, BrowserRead, BrowserClick, BrowserType and BrowserScreenshot. They need the package
 * `playwright-core` and an installed Chromium; without them the worker does not start.
 *
 * @throws StelloError INVALID_ARGUMENT when an entry of `allow` is no host, or a time no duration
 * @example
 * defineProfile({ id: 'clerk', agent: { model: 'anthropic:claude-sonnet-5' }, capabilities: [browser()] })
 */
export function browser(options: BrowserOptions = {}): CapabilityPack & { tools: readonly Tool[] } {
  const { allow = [], executablePath, idleTimeout = '10m', pageTimeout = '30s' } = options
  const guard = networkGuard({ allow, where: 'browser' })
  const pageTimeoutMs = toMs(pageTimeout, 'browser: pageTimeout')
  const pages = new SessionPages({
    launch: () => launchChromium(guard, executablePath),
    idleMs: toMs(idleTimeout, 'browser: idleTimeout'),
    pageTimeoutMs,
  })
  return {
    name: 'browser',
    tools: browserTools({ pages, guard, pageTimeoutMs }),
    open: async () => void (await demandChromium(executablePath)),
    close: () => pages.close(),
  }
}
