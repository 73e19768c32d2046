/** Random numbers that a seed repeats: Mulberry32. */
export interface Random {
  /** From `least` to `most`, both included. */
  int(least: number, most: number): number
  pick<T>(from: readonly T[]): T
}

export function createRandom(seed: number): Random {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1))
  return { int, pick: <T>(from: readonly T[]) => from[int(0, from.length - 1)] as T }
}
