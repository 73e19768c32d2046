/** A codec that really encrypts: AES-256-GCM, as in the example of docs/worker.md. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Payload, PayloadCodec } from '@temporalio/common'
import { temporal } from '@temporalio/proto'

const ENCODING = 'binary/encrypted'
const { Payload: Proto } = temporal.api.common.v1

export function aesCodec(key: Uint8Array): PayloadCodec {
  return {
    encode: async (payloads) => payloads.map((payload) => seal(key, payload)),
    decode: async (payloads) =>
      payloads.map((payload) =>
        Buffer.from(payload.metadata?.['encoding'] ?? []).toString() === ENCODING ? open(key, payload) : payload,
      ),
  }
}

function seal(key: Uint8Array, payload: Payload): Payload {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  const sealed = [cipher.update(Proto.encode(payload).finish()), cipher.final()]
  return {
    metadata: { encoding: Buffer.from(ENCODING) },
    data: Buffer.concat([iv, cipher.getAuthTag(), ...sealed]),
  }
}

function open(key: Uint8Array, { data }: Payload): Payload {
  const bytes = Buffer.from(data ?? [])
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
  decipher.setAuthTag(bytes.subarray(12, 28))
  return Proto.decode(Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]))
}
