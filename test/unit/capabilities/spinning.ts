/** Work for a thread: without an end, or with one. */
export function run({ pattern, text, grow }: { pattern: string; text: string; grow?: boolean }): boolean {
  const kept: unknown[] = []
  while (grow) kept.push(Array.from({ length: 1_000_000 }, () => kept.length))
  return new RegExp(pattern).test(text)
}
