/** The two servers that every function of this folder works with, and what is known about them. */
import type { Client } from '@temporalio/client'
import type { Database } from '../store/database/database.ts'
import type { Listener } from '../store/database/listener.ts'

export interface ClientDeps {
  client: Client
  db: Database
  listener: Listener
  searchable: () => Promise<boolean>
  namespace: string
  uiUrl?: string
}
