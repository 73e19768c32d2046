/** Runs the tests of a project, to check what the agent claims. */
import { execFile } from 'node:child_process'

export async function testsOf(folder: string): Promise<{ passed: number; failed: number }> {
  // If this runs inside another run of Node's test runner, this variable would change the output.
  const { NODE_TEST_CONTEXT: _outer, ...env } = process.env
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, ['--test'], { cwd: folder, env }, (_failed, stdout) => resolve(stdout))
  })
  const count = (word: string): number => Number(new RegExp(`${word} (\\d+)`).exec(output)?.[1] ?? 0)
  return { passed: count('pass'), failed: count('fail') }
}
