/** What examples take for granted, beside everything that the package exports. No other code may see it. */
import type { execSync as sync } from 'node:child_process'
import type { join as joined } from 'node:path'
import type { fileURLToPath as toPath } from 'node:url'
import type { Client } from '@temporalio/client'
import type { Worker as TemporalWorker } from '@temporalio/worker'
import type { z as zod } from 'zod'
import type { MemoryManager } from 'stello-temporal/capabilities'
import type * as clients from 'stello-temporal/client'
import type * as main from 'stello-temporal'
import type * as testing from 'stello-temporal/testing'
import type * as workers from 'stello-temporal/worker'

declare global {
  const agent: main.StelloAgent
  const ctx: main.ToolContext
  const stello: clients.StelloClient
  const session: clients.SessionHandle
  const turn: clients.TurnHandle
  const item: clients.InboxQuestion
  const question: clients.InboxQuestion
  const memoryManager: MemoryManager
  const fake: testing.FakeServer
  const plugin: workers.StelloPlugin
  const worker: workers.StelloWorker
  type ToolContext = main.ToolContext
  type CapabilityPack = main.CapabilityPack

  // Packages and modules of Node, imported elsewhere on the page.
  const z: typeof zod
  const Type: any
  const Worker: typeof TemporalWorker
  const join: typeof joined
  const fileURLToPath: typeof toPath
  const execSync: typeof sync

  // What readers have themselves: their tools, their services, their texts.
  type Theirs = any
  const WeatherTool: Theirs, calculator: Theirs, deploy: Theirs, lookup: Theirs, ping: Theirs, search: Theirs
  const bank: Theirs, forecast: Theirs, knownCities: Theirs, mail: Theirs
  const connectTo: Theirs,
    evaluate: Theirs,
    find: Theirs,
    list: Theirs,
    get: Theirs,
    put: Theirs,
    remove: Theirs,
    save: Theirs
  const databaseUrl: string, id: string, root: string, url: string, lines: string[], paths: string[], rows: unknown[]
  const error: unknown,
    response: Response,
    llm: main.Model,
    model: Theirs,
    ollama: Theirs,
    complete: main.Model['complete']
  const client: Client
  const app: Theirs,
    connection: Theirs,
    db: Theirs,
    keeper: Theirs,
    ourIndex: Theirs,
    parameters: Theirs,
    sandboxManager: Theirs
  const activities: Theirs,
    assistant: Theirs,
    context: Theirs,
    dataConverter: Theirs,
    initialState: Theirs,
    messages: Theirs
  const operationId: Theirs, profiles: Theirs, router: Theirs, schema: Theirs, skillRouter: Theirs, startServers: Theirs
  const terminal: Theirs, told: Theirs, tools: Theirs, usage: Theirs, user: Theirs, workflowsPath: Theirs
}
