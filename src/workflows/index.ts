/** What the worker bundles: the one workflow. */
export { session } from './session.ts'
