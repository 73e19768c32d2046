/** Reads docker-compose.yml, so that the cluster under test is the one that the file describes. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

export interface ComposeService {
  image?: string
  command?: string[]
  environment: Record<string, string>
  healthcheck?: { test: string[] }
  stop_grace_period?: string
}

export interface Compose {
  postgres: ComposeService
  temporal: ComposeService
  worker: ComposeService
}

/** @param variables the content of `.env`; a required variable that is missing is an error, as for compose itself */
export async function readCompose(variables: Record<string, string>): Promise<Compose> {
  const text = await readFile(fileURLToPath(new URL('../../docker-compose.yml', import.meta.url)), 'utf8')
  const reviver = (_key: unknown, value: unknown): unknown =>
    typeof value === 'string' ? substitute(value, variables) : value
  const { services } = parse(text, reviver) as { services: Compose }
  return services
}

/** `$$`, `${NAME}`, `${NAME:-default}` and `${NAME:?message}`. */
function substitute(text: string, variables: Record<string, string>): string {
  return text.replace(/\$\$|\$\{(\w+)(?::([-?])([^}]*))?\}/g, (found, name: string, kind: string, rest: string) => {
    if (found === '$$') return '$'
    const value = variables[name] ?? ''
    if (value === '' && kind === '?') throw new Error(`docker-compose.yml: ${rest}`)
    return value === '' && kind === '-' ? rest : value
  })
}
