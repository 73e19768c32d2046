/** Fingerprints of 64 bits: safe against chance, not against an adversary. */
const FNV_OFFSET = 0xcbf29ce484222325n
const FNV_PRIME = 0x100000001b3n

export function fnv1a(text: string): bigint {
  let hash = FNV_OFFSET
  for (let i = 0; i < text.length; i++) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(i))) * FNV_PRIME)
  }
  return hash
}
