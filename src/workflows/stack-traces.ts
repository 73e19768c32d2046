/**
 * Keeps Temporal's bookkeeping of promises cheap. For every promise of a workflow, the SDK compiles two functions,
 * which it finds through the constructor of the promise's class. It also takes a stack trace and maps it to the
 * sources. With many signals, this costs more than everything else. This file compiles each function once, and removes
 * the traces of that class, so the Call Stack of the UI stays empty. Errors keep traces of two frames. It must be
 * preloaded, because the globals of the sandbox are frozen later.
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
