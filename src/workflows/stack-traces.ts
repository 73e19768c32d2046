/**
 * Keeps Temporal's bookkeeping of promises cheap. For every promise a workflow makes its SDK compiles two functions, which
 * it reaches through the constructor of the promise's class, and notes a stack trace mapped to the sources: more than all
 * else that many signals cost. Here each function is compiled once, and the class its traces are made of has none, so the
 * Call Stack of the UI stays empty. Errors keep their traces, of two frames. Must be preloaded: later the globals of the
 * sandbox are frozen.
 */
if (!Object.isFrozen(Error)) Error.stackTraceLimit = 2

class NoTrace {}

const compiled = new Map<string, () => unknown>([['return globalThis.Error', () => NoTrace]])

function compileOnce(code: string): () => unknown {
  // oxlint-disable-next-line no-implied-eval -- in place of the one that the SDK would call
  const known = compiled.get(code) ?? (new Function(code) as () => unknown)
  compiled.set(code, known)
  return known
}

if (!Object.isFrozen(Promise)) Object.defineProperty(Promise, 'constructor', { value: compileOnce })
