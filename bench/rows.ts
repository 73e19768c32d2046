/** Every row of the bench, ordered by the measurement that gives it, with its unit and its aim. */
/** `atMost` and `atLeast` are the aims of the project. A row without an aim is for orientation. */
export interface Aim {
  atMost?: number
  atLeast?: number
}

export interface Row {
  unit: string
  aim?: Aim
}

export const ROWS = {
  turn: {
    turn_ms: { unit: 'ms' },
    turn_floor_ms: { unit: 'ms' },
    turn_over_floor: { unit: 'ratio', aim: { atMost: 1.3 } },
    turns_per_s: { unit: 'turns/s' },
    turns_floor_per_s: { unit: 'turns/s' },
    throughput_over_floor: { unit: 'ratio', aim: { atLeast: 0.75 } },
  },
  crowd: {
    turns_per_s_200: { unit: 'turns/s' },
    throughput_200_over_100: { unit: 'ratio', aim: { atLeast: 0.85 } },
    decisions_timed_out_200: { unit: 'decisions', aim: { atMost: 0 } },
  },
  http: {
    turn_http_ms: { unit: 'ms' },
    turn_in_process_ms: { unit: 'ms' },
    turn_bare_http_ms: { unit: 'ms' },
    turn_http_over_parts: { unit: 'ratio', aim: { atMost: 1.08 } },
    turn_http_1mb_ms: { unit: 'ms' },
    turn_in_process_1mb_ms: { unit: 'ms' },
    turn_bare_http_1mb_ms: { unit: 'ms' },
    turn_http_1mb_over_parts: { unit: 'ratio', aim: { atMost: 1.08 } },
  },
  growth: {
    history_bytes_per_turn_10: { unit: 'bytes' },
    history_bytes_per_turn_100: { unit: 'bytes' },
    history_bytes_per_turn_1000: { unit: 'bytes' },
    history_bytes_1000_over_10: { unit: 'ratio', aim: { atMost: 1.1 } },
    turn_ms_1000_over_10: { unit: 'ratio', aim: { atMost: 1.3 } },
  },
  compaction: {
    compaction_5000_records_ms: { unit: 'ms' },
    compacted_turn_1000_ms: { unit: 'ms' },
    compacted_turn_1000_over_10: { unit: 'ratio', aim: { atMost: 1.3 } },
  },
  fork: {
    fork_ms: { unit: 'ms' },
    fork_10000_over_10: { unit: 'ratio', aim: { atMost: 1.3 } },
    fork_bytes: { unit: 'bytes', aim: { atMost: 1023 } },
    fork_records: { unit: 'rows', aim: { atMost: 0 } },
    forks_100_at_once_ms: { unit: 'ms' },
  },
  recovery: {
    worker_boot_s: { unit: 's' },
    worker_start_s: { unit: 's' },
    recovery_s: { unit: 's', aim: { atMost: 1.5 } },
  },
  replace: {
    replace_worker_s: { unit: 's', aim: { atMost: 10 } },
    longest_run_s: { unit: 's', aim: { atMost: 30 } },
  },
  memory: {
    rss_mb_empty: { unit: 'MB' },
    rss_mb_1000_idle: { unit: 'MB' },
    rss_mb_100_running: { unit: 'MB' },
  },
  pipeline: {
    pipeline_us_per_call: { unit: 'µs' },
    model_gate_us: { unit: 'µs', aim: { atMost: 1 } },
    extract_json_mb_s: { unit: 'MB/s' },
  },
} as const satisfies Record<string, Record<string, Row>>

export type Measurement = keyof typeof ROWS
