/** Says plainly that Node is too old, before something fails without an explanation. */
const NEEDED = [20, 19] as const

/** @throws Error when this Node is older than the package needs */
export function checkNodeVersion(version: string = process.versions.node): void {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [neededMajor, neededMinor] = NEEDED
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return
  throw new Error(
    `stello-temporal needs Node ${NEEDED.join('.')} or newer; this is Node ${version}. Install a newer Node and try again.`,
  )
}
