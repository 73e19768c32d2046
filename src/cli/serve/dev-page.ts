/** The page of `stello dev`: on the port of the last time, so that an open tab goes on after a restart. */
import type { StelloClient } from '../../client/index.ts'
import type { DevServers } from '../../dev/dev-servers.ts'

/** A page that is served. */
export interface DevPage {
  url: string
  stop(): Promise<void>
}

/** @throws StelloError INVALID_ARGUMENT when the port that was asked for is taken */
export async function openDevPage(
  stello: StelloClient,
  { info, notePage }: DevServers,
  asked: number | undefined,
): Promise<DevPage> {
  const { choosePort, startOnPorts } = await import('../../dev/ports.ts')
  const { serveHttp } = await import('../../http/serve-http.ts')
  const server = await startOnPorts(async () =>
    serveHttp({ stello, port: await choosePort('the page', asked, info.page?.port) }),
  )
  await notePage({ url: server.url, port: server.port })
  return server
}
