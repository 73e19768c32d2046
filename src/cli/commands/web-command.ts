/** `stello web`: the page and the HTTP routes, until Ctrl-C. */
import type { Command } from 'commander'
import { StelloError } from '../../core/errors.ts'
import type { Context, OnSession } from './command-context.ts'
import { interrupted } from '../interrupted.ts'
import { port } from './worker-options.ts'

interface WebOptions {
  pagePort?: number
  host?: string
  token?: string
  tokenFrom?: string
  allowHost?: string[]
}

export function addWebCommand(program: Command, on: OnSession): void {
  program
    .command('web')
    .description('serve the page and the HTTP routes, until Ctrl-C')
    .option('--page-port <port>', 'default: a free one', port)
    .option('--host <address>', 'to listen on; default 127.0.0.1; any other needs a token')
    .option('--token <token>', 'what requests must carry; other users of this machine can read it here')
    .option('--token-from <variable>', 'the environment variable that holds the token')
    .option('--allow-host <names...>', 'other names that the server is asked by, e.g. of a proxy before it')
    .hook('preAction', (command) => {
      if (command.opts<WebOptions>().token !== undefined && command.opts<WebOptions>().tokenFrom !== undefined)
        command.error('error: --token and --token-from both name the token')
    })
    .action(on(web))
}

async function web({ stello, out }: Context, { pagePort, host, allowHost, ...given }: WebOptions): Promise<void> {
  const { serveHttp } = await import('../../http/serve-http.ts')
  const token = readToken(given)
  const stop = interrupted()
  const server = await serveHttp({
    stello,
    ...(pagePort !== undefined && { port: pagePort }),
    ...(host !== undefined && { host }),
    ...(token !== undefined && { token }),
    ...(allowHost && { hosts: allowHost }),
  })
  const page = pageLink(server.url, token)
  const uiUrl = stello.uiLink()
  out.result(
    { ready: true, url: server.url, page, ...(uiUrl !== undefined && { uiUrl }) },
    [`page        ${page}`, ...(uiUrl === undefined ? [] : [`Temporal UI ${uiUrl}`]), 'Ctrl-C stops'].join('\n'),
  )
  await stop
  await server.stop()
}

/** The part behind `#` stays in the browser: it reaches no server and no log. */
function pageLink(url: string, token?: string): string {
  return token === undefined ? `${url}/` : `${url}/#token=${encodeURIComponent(token)}`
}

function readToken({ token, tokenFrom }: Pick<WebOptions, 'token' | 'tokenFrom'>): string | undefined {
  if (tokenFrom === undefined) return token
  const found = process.env[tokenFrom]
  if (found !== undefined && found !== '') return found
  throw new StelloError('INVALID_ARGUMENT', `the variable ${tokenFrom}, which --token-from names, is not set`, {
    hint: `for example: ${tokenFrom}=$(openssl rand -hex 16) stello web --token-from ${tokenFrom}`,
  })
}
