/** Preloaded into a process: its wall clock jumps by a day and a half, forward and back, every time it is read. */
const JUMP_MS = 36 * 3_600_000
const RealDate = Date
let reads = 0

function jumped() {
  return RealDate.now() + (reads++ % 2 === 0 ? JUMP_MS : -JUMP_MS)
}

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args) => (args.length === 0 ? new target(jumped()) : new target(...args)),
  apply: () => new RealDate(jumped()).toString(),
  get: (target, name) => (name === 'now' ? jumped : Reflect.get(target, name)),
})
