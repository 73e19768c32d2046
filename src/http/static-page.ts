/** Serves the built page. Everything that is no file of it and no route is the page itself, which reads the address. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serveStatic } from '@hono/node-server/serve-static'
import type { HttpApp } from './add-route.ts'

/** Where `npm run build` puts it. The same path leads there from `src/http` and from `dist/http`. */
export const PAGE_FOLDER: string = fileURLToPath(new URL('../../dist/web', import.meta.url))

const NOT_BUILT = 'The page is not built: `npm run build` builds it. The routes below /api work without it.\n'

/** Names of these files change with their content. */
const HASHED = '/assets/'

export function servePage(app: HttpApp, folder: string): void {
  app.use('/assets/*', async (c, next) => {
    await next()
    if (c.res.ok) c.res.headers.set('cache-control', 'public, max-age=31536000, immutable')
  })
  app.get('*', async (c, next) => {
    if (c.req.path.startsWith('/api/')) return next()
    if (!existsSync(join(folder, 'index.html'))) return c.text(NOT_BUILT, 503)
    return serveStatic({ root: folder })(c, next)
  })
  app.get('*', async (c, next) => {
    if (c.req.path.startsWith('/api/') || c.req.path.startsWith(HASHED)) return next()
    return serveStatic({ root: folder, path: 'index.html' })(c, next)
  })
}
