/** `stello-temporal/capabilities`: packs of tools for `defineProfile({ capabilities })`. */
export { filesystem } from './filesystem/filesystem.ts'
export type { FilesystemOptions } from './filesystem/filesystem.ts'
export type { SandboxManager } from './filesystem/locate.ts'
export { PROTECTED_NAMES } from './filesystem/protected.ts'
export type { CapabilityPack } from '../agent/capability-pack.ts'
