/**
 * Keeps Temporal's bookkeeping of promises cheap. Its SDK notes a stack trace for every promise a workflow makes, mapped
 * to the sources; with ten frames that was half of what a workflow task cost. Must be preloaded: later the globals of
 * the sandbox are frozen.
 */
if (!Object.isFrozen(Error)) Error.stackTraceLimit = 2
