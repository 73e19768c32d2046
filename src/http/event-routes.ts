/**
 * The events of a session or a tree: as a stream that goes on at a cursor, or as a page of the events that exist now.
 */
import { z } from '@hono/zod-openapi'
import { addRoute, type AddRoutes } from './add-route.ts'
import { toWire, type WireEvent } from './wire-event.ts'
import { streamEvents } from './stream-events.ts'
import * as inputs from './request-schemas.ts'
import * as outputs from './answer-schemas.ts'

/** Events that are there now. */
export interface WireEventPage {
  /** In the order in which a stream gives them. */
  events: WireEvent[]
  /** The `from` of the next request. */
  cursor: string
}

/** Most events of a page. */
const PAGE = 500

const eventQuery = z.strictObject({
  from: z.string().default('0').openapi({
    description: 'where to begin: the cursor of an event, the offset of one, or `now`. Default: the beginning',
  }),
  tree: inputs.flag('0').openapi({ description: '`1`: the sessions below too' }),
  live: inputs.flag('1').openapi({ description: '`0`: without text and tool cards while they stream' }),
})

export const addEventRoutes: AddRoutes = (app, context) => {
  addRoute(
    app,
    {
      method: 'get',
      path: '/sessions/{id}/events',
      summary: 'What happens, as server-sent events; with `Accept: application/json` what is there now',
      params: inputs.sessionPath,
      query: eventQuery,
      gives: [
        { status: 200, description: 'a stream', schema: outputs.eventStream, type: 'text/event-stream' },
        { status: 200, description: 'a stream, or a page of at most 500 events', schema: outputs.eventPage },
      ],
    },
    async ({ params: { id }, query, c }): Promise<Response | WireEventPage> => {
      const session = context.stello.session(id)
      const tree = query.tree === '1'
      const from = c.req.header('last-event-id') || query.from
      if (isAskedAsPage(c.req.header('accept'))) {
        const { events, cursor } = await session.events({ from, tree, limit: PAGE })
        return { events: events.map(toWire), cursor }
      }
      // A session that is not there, or a cursor that is none, is refused before the stream begins.
      const { cursor } = await session.events({ from, tree, limit: 0 })
      return streamEvents(c, { session, from: cursor, tree, live: query.live === '1' }, context)
    },
  )
}

function isAskedAsPage(accept = ''): boolean {
  return accept.includes('application/json') && !accept.includes('text/event-stream')
}
