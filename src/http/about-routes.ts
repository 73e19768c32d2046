/** What this server is, and which agents it knows. */
import type { Json } from './json.ts'
import type { AddRoutes } from './add-route.ts'
import { addRoute } from './add-route.ts'
import * as outputs from './answer-schemas.ts'
import { packageVersion } from './package-version.ts'

/** What is served here. */
export interface About {
  /** Of this package. */
  version: string
  /** In Temporal. */
  namespace: string
  /** The Temporal UI, where its address is known. */
  uiUrl?: string
}

/** An agent that workers have served. */
export interface AgentInfo {
  /** Its name. */
  name: string
  /** A worker serves it now. A session of any other agent waits until one does. */
  served: boolean
  /** Names of its fork profiles. */
  profiles: string[]
}

export const addAboutRoutes: AddRoutes = (app, { stello }) => {
  addRoute(
    app,
    {
      method: 'get',
      path: '/about',
      summary: 'What is served here',
      gives: [{ status: 200, description: 'version, namespace, Temporal UI', schema: outputs.about }],
    },
    async (): Promise<Json<About>> => {
      const uiUrl = stello.uiLink()
      const { namespace } = stello.temporal.options
      return { version: packageVersion(), namespace, ...(uiUrl !== undefined && { uiUrl }) }
    },
  )

  addRoute(
    app,
    {
      method: 'get',
      path: '/agents',
      summary: 'The agents that workers have served',
      gives: [{ status: 200, description: 'their names', schema: outputs.agents }],
    },
    async (): Promise<AgentInfo[]> => {
      const [names, served, profiles] = await Promise.all([stello.agents(), stello.servedAgents(), stello.profiles()])
      return names.map((name) => ({ name, served: served.includes(name), profiles: profiles[name] ?? [] }))
    },
  )
}
