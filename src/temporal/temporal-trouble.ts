/**
 * Why Temporal does not answer as it should, what somebody can do about it, and whether it was a refusal. The texts are
 * for people.
 */
import { isGrpcServiceError } from '@temporalio/client'
import { NamespaceNotFoundError } from '@temporalio/common'
import { messageOf } from '../core/errors.ts'

export interface TemporalTrouble {
  what: string
  hint: string
  /** True: Temporal has answered, and nothing was done. Otherwise nobody knows. */
  refused: boolean
}

/** A part of gRPC's own type, which Temporal's client does not export. */
interface ServiceError {
  code: number
  details: string
}

type Words = Pick<TemporalTrouble, 'what' | 'hint'>

const NAMESPACE: Words = {
  what: 'Temporal does not know the namespace',
  hint: 'create it (`temporal operator namespace create --namespace NAME`), or correct TEMPORAL_NAMESPACE',
}
/** The gRPC codes of a refusal. */
const REFUSALS: Readonly<Record<number, Words>> = {
  3: { what: 'Temporal refuses the request', hint: 'its message says what it cannot accept' },
  5: NAMESPACE,
  7: {
    what: 'Temporal does not permit this',
    hint: 'give the API key or the client certificate the right to use the namespace; Temporal also answers so where a namespace is not there',
  },
  9: { what: 'Temporal is not in a state to do this', hint: 'its message says what has to be done first' },
  12: {
    what: 'this server does not know the request',
    hint: 'is it Temporal, and new enough? The tests run on 1.29',
  },
  16: {
    what: 'Temporal does not know who asks',
    hint: 'set TEMPORAL_API_KEY, or the client certificate in TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH',
  },
}
/** What a failed connection says, from the special to the general. */
const CONNECTIONS: readonly [pattern: RegExp, words: Words][] = [
  [
    /self.signed|unable to (get|verify)|issuer|unknown ca/i,
    {
      what: 'the certificate of Temporal is of a CA that is unknown here',
      hint: 'name the file of that CA in TEMPORAL_TLS_SERVER_CA_CERT_PATH',
    },
  ],
  [
    /altname|does not match certificate/i,
    {
      what: 'the certificate of Temporal is for another name',
      hint: 'correct TEMPORAL_ADDRESS, or say the name of the certificate in TEMPORAL_TLS_SERVER_NAME',
    },
  ],
  [
    /certificate has expired|not yet valid/i,
    { what: 'the certificate of Temporal is not valid now', hint: 'renew it' },
  ],
  [
    /certificate.required|bad.certificate|alert number (42|116)|handshake.failure/i,
    {
      what: 'Temporal wants another client certificate, or one at all',
      hint: 'name its files in TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH',
    },
  ],
  [
    /wrong version number|packet length too long|before secure TLS connection/i,
    {
      what: 'the server does not speak TLS',
      hint: 'unset TEMPORAL_TLS and TEMPORAL_API_KEY, or correct TEMPORAL_ADDRESS',
    },
  ],
  [
    /ENOTFOUND|EAI_AGAIN|Name resolution failed/i,
    { what: 'the name of the server is unknown', hint: 'correct TEMPORAL_ADDRESS' },
  ],
  [
    /ECONNRESET|socket hang up|connection dropped|socket closed/i,
    {
      what: 'the server ends the connection',
      hint: 'does it want TLS (TEMPORAL_TLS=true), or a client certificate (TEMPORAL_TLS_CLIENT_CERT_PATH)?',
    },
  ],
]
const AWAY: Words = {
  what: 'Temporal does not answer',
  hint: 'start it (`stello server` brings one), or correct TEMPORAL_ADDRESS',
}

/** @param error of Temporal's client, or of its connection */
export function temporalTrouble(error: unknown): TemporalTrouble {
  if (error instanceof NamespaceNotFoundError) return { ...NAMESPACE, refused: true }
  const asked = serviceErrorOf(error)
  if (asked) {
    const refusal = REFUSALS[asked.code]
    if (refusal) return told(refusal, asked.details, true)
    return told(connectionTrouble(asked.details), asked.details, false)
  }
  return told(connectionTrouble(messageOf(error)), messageOf(error), false)
}

function connectionTrouble(details: string): Words {
  return CONNECTIONS.find(([pattern]) => pattern.test(details))?.[1] ?? AWAY
}

/** The server's own words are part of the text. */
function told({ what, hint }: Words, details: string, refused: boolean): TemporalTrouble {
  return { what: details === '' ? what : `${what}: ${details}`, hint, refused }
}

/** The error of the server or of the connection. Temporal's client throws it as it is, or as a cause of another error. */
export function serviceErrorOf(error: unknown): ServiceError | undefined {
  const cause = error instanceof Error ? error.cause : undefined
  return [error, cause].find(isGrpcServiceError)
}
