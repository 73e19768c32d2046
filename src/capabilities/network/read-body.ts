/** Reads the body of an answer. Some kilobytes unpack to gigabytes, so the bytes are counted on both sides of the unpacking. */
import { Transform, Writable, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { NetworkRefusal } from './network-refusal.ts'

const UNPACKERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}
/** The ways of packing that are understood, as a request names them. */
export const ENCODINGS = 'gzip, deflate, br'
const MOST_PACKINGS = 2

export interface BodyBounds {
  /** The header `content-encoding`. */
  packing: string
  /** In bytes. */
  sizeLimit: number
  signal: AbortSignal
}

/** @throws NetworkRefusal when the body is too large, or packed in a way that is not known */
export async function readBody(body: Readable, { packing, sizeLimit, signal }: BodyBounds): Promise<Buffer> {
  const chunks: Buffer[] = []
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  await pipeline(
    [body, counter(sizeLimit), ...unpackers(packing).flatMap((unpack) => [unpack, counter(sizeLimit)]), sink],
    { signal },
  )
  return Buffer.concat(chunks)
}

/** Lets chunks through until they are too many. */
function counter(limit: number): Transform {
  let size = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      if (size <= limit) return done(null, chunk)
      done(new NetworkRefusal('network_error', `The answer is larger than ${limit / 1024 / 1024} MiB.`))
    },
  })
}

/** The last packing is taken off first. */
function unpackers(packing: string): Transform[] {
  const names = packing
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity')
  const known = names.flatMap((name) => (Object.hasOwn(UNPACKERS, name) ? [UNPACKERS[name]] : []))
  if (known.length < names.length || names.length > MOST_PACKINGS) {
    throw new NetworkRefusal(
      'network_error',
      `The answer is packed as "${packing.slice(0, 100)}", which is not understood.`,
    )
  }
  return known.toReversed().map((create) => (create as () => Transform)())
}
