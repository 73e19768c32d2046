/** The text of an answer, decoded by the character set that the answer names. */

const IN_META = /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]{1,40})/i
/** How far into a page a statement of its character set is searched, in bytes. */
const HEAD = 4096
const UTF_8 = 'utf-8'

/** @param contentType the header */
export function decodeText(bytes: Uint8Array, contentType: string): string {
  const named = /charset\s*=\s*"?([\w-]{1,40})/i.exec(contentType)?.[1]
  const label = named ?? IN_META.exec(Buffer.from(bytes.subarray(0, HEAD)).toString('latin1'))?.[1]
  return decoded(bytes, markedEncoding(bytes) ?? label ?? UTF_8)
}

/** A mark of byte order says more than any header. */
function markedEncoding([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}

function decoded(bytes: Uint8Array, label: string): string {
  try {
    return new TextDecoder(label).decode(bytes)
  } catch {
    return new TextDecoder(UTF_8).decode(bytes)
  }
}
