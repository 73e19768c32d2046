/** Options that several commands with workers have. */
import { InvalidArgumentError } from 'commander'
import type { StelloWorkerOptions } from '../../worker.ts'

export type Metrics = Pick<StelloWorkerOptions, 'metricsPort' | 'metricsHost'>

export function port(value: string): number {
  const parsed = Number(value)
  if (Number.isInteger(parsed) && parsed > 0 && parsed < 65536) return parsed
  throw new InvalidArgumentError('It must be a port, 1 to 65535.')
}

type PortOption = readonly [flags: string, description: string, read: (value: string) => number]

export const METRICS_PORT: PortOption = ['--metrics-port <port>', 'serve Prometheus metrics of the worker there', port]
export const METRICS_HOST: readonly [flags: string, description: string] = [
  '--metrics-host <address>',
  'the address for that; default 127.0.0.1',
]
