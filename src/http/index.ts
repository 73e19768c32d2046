/** Entry `stello-temporal/http`: sessions over HTTP, for programs that reach neither Temporal nor PostgreSQL. */
export type { Json } from './json.ts'
