/** Tests make databases and roles. The role of the development servers may not do that. */
import { superuserUrl } from '../../src/dev/postgres-server.ts'

/** The URL of a development server, with its superuser. */
export async function asSuperuser(home: string, url: string): Promise<string> {
  const { port, pathname } = new URL(url)
  return Object.assign(new URL(await superuserUrl(home, Number(port))), { pathname }).href
}
