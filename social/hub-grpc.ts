import { Client, credentials } from '@grpc/grpc-js'
import { NoAnswer } from '../hosts/no-answer.ts'
import { decodeRemoval, mainnet, messageTypes } from '../trust/message-data.ts'
import { bytes, bytesIn, join, listFields, number, readFields } from '../trust/protobuf.ts'

/** A hub's gRPC API, the only source of removed verifications: the HTTP API lists live ones only. */
export interface Removals {
  readonly url: string
  /**
   * The signed messages with which an account took back verifications of Ethereum addresses, as the HTTP API would show
   * them; nothing about them is checked. Throws NoAnswer.
   */
  ofFid(fid: number): Promise<readonly RemovalMessage[]>
  close(): void
}

export interface RemovalMessage {
  readonly data: {
    readonly type: 'MESSAGE_TYPE_VERIFICATION_REMOVE'
    readonly fid: number
    /** Seconds of the network's clock, as its signer wrote them. */
    readonly timestamp: number
    readonly network: 'FARCASTER_NETWORK_MAINNET'
    readonly verificationRemoveBody: { readonly address: string; readonly protocol: 'PROTOCOL_ETHEREUM' }
  }
  readonly hash: string
  readonly hashScheme: 'HASH_SCHEME_BLAKE3'
  readonly signature: string
  readonly signatureScheme: 'SIGNATURE_SCHEME_ED25519'
  readonly signer: string
}

interface RemovalsOptions {
  /** Base URL of the gRPC API; with http it is called without TLS. */
  readonly url: string
  /** Awaited before every page: the caller's rate limit. */
  readonly slot: () => Promise<void>
  /** Timeout of one page, in milliseconds. Default: 10 s. */
  readonly timeoutMs?: number
}

/** Path of the gRPC method. Source: snapchain, `proto/definitions/rpc.proto`, a service without a package. */
export const removalsMethod = '/HubService/GetAllVerificationMessagesByFid'

const defaultTimeoutMs = 10_000
const messagesPerPage = 100
/** Pages read of one account; later ones are ignored. An account keeps 25 verifications per storage unit. */
const mostPages = 5
const mostAnswerBytes = 2 * 1024 * 1024

export function createRemovals({ url, slot, timeoutMs = defaultTimeoutMs }: RemovalsOptions): Removals {
  const { protocol, hostname, port, host } = new URL(url)
  const isSecure = protocol === 'https:'
  const client = new Client(
    `${hostname}:${port || (isSecure ? 443 : 80)}`,
    isSecure ? credentials.createSsl() : credentials.createInsecure(),
    { 'grpc.max_receive_message_length': mostAnswerBytes },
  )

  const ask = (request: Uint8Array) =>
    new Promise<Buffer>((resolve, reject) => {
      const asBytes = (value: Uint8Array) => Buffer.from(value)
      const deadline = Date.now() + timeoutMs
      client.makeUnaryRequest(
        removalsMethod,
        asBytes,
        (given) => given,
        request,
        { deadline },
        (error, answer) => {
          if (answer) resolve(answer)
          else reject(new NoAnswer('unavailable', `${host}: gRPC: ${error?.details}`, { cause: error }))
        },
      )
    })

  return {
    url,

    async ofFid(fid) {
      const found: RemovalMessage[] = []
      let token: Uint8Array = new Uint8Array()
      for (let page = 0; page < mostPages; page++) {
        await slot()
        const answer = listFields(await ask(join([number(1, fid), number(2, messagesPerPage), bytes(3, token)])))
        if (!answer) throw new NoAnswer('bad_answer', `${host}: gRPC: no page of messages`)
        for (const [field, value] of answer) {
          const removal = field === 1 && value instanceof Uint8Array ? readRemoval(value) : undefined
          if (removal) found.push(removal)
        }
        const next = answer.find(([field]) => field === 2)?.[1]
        if (!(next instanceof Uint8Array) || next.length === 0) break
        token = next
      }
      return found
    },

    close: () => client.close(),
  }
}

/** Decodes a message into the form of the HTTP API; undefined: it is no removal of a known kind. */
function readRemoval(message: Uint8Array): RemovalMessage | undefined {
  const fields = readFields(message)
  const [inside, hash, signature, signer, carried] = [1, 2, 4, 6, 7].map((field) => fields && bytesIn(fields, field))
  // The bytes that were hashed, where they are carried; else the message inside.
  const data = decodeRemoval(carried?.length ? carried : (inside ?? new Uint8Array()))
  if (data?.body.kind !== 'verification_remove' || !hash || !signature || !signer) return undefined
  const { type, fid, timestamp, network, body } = data
  if (type !== messageTypes.MESSAGE_TYPE_VERIFICATION_REMOVE || network !== mainnet) return undefined
  if (body.protocol !== 0 || body.address.length !== 20) return undefined
  return {
    data: {
      type: 'MESSAGE_TYPE_VERIFICATION_REMOVE',
      fid,
      timestamp,
      network: 'FARCASTER_NETWORK_MAINNET',
      verificationRemoveBody: { address: hex(body.address), protocol: 'PROTOCOL_ETHEREUM' },
    },
    hash: hex(hash),
    hashScheme: 'HASH_SCHEME_BLAKE3',
    signature: Buffer.from(signature).toString('base64'),
    signatureScheme: 'SIGNATURE_SCHEME_ED25519',
    signer: hex(signer),
  }
}

function hex(value: Uint8Array): string {
  return `0x${Buffer.from(value).toString('hex')}`
}
