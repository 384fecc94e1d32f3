import { Server, ServerCredentials } from '@grpc/grpc-js'
import { removalsMethod } from '../../social/hub-grpc.ts'
import { readHubMessage } from '../../trust/hub-message.ts'
import { bytes, bytesIn, join, number, numberIn, readFields } from '../../trust/protobuf.ts'
import { compareMessages, type Message } from './messages.ts'
import type { HubState } from './state.ts'

interface HubGrpc {
  /** Base address for HUB_GRPC. */
  readonly url: string
  /** FIDs of the requests received, newest last. */
  readonly asked: readonly number[]
  /** Stops answering requests; they hang. */
  hang(): void
  stop(): void
}

/** A hub's gRPC API over a state in memory, with one method: the verification messages of a FID, removals included. */
export async function startHubGrpc(state: HubState): Promise<HubGrpc> {
  const asked: number[] = []
  let isHanging = false
  const server = new Server()
  const asBytes = (value: Uint8Array) => Buffer.from(value)
  const method = {
    path: removalsMethod,
    requestStream: false,
    responseStream: false,
    requestDeserialize: (request: Buffer) => request,
    requestSerialize: asBytes,
    responseDeserialize: (response: Buffer) => response,
    responseSerialize: asBytes,
  }
  server.addService(
    { messagesByFid: method },
    {
      messagesByFid: ({ request }: { request: Buffer }, reply: (error: Error | null, answer?: Uint8Array) => void) => {
        const fields = readFields(request)
        const fid = (fields && numberIn(fields, 1)) || 0
        asked.push(fid)
        if (!isHanging && fields) reply(null, pageOf(state, fid, fields))
      },
    },
  )
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    )
  })
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    hang() {
      isHanging = true
    },
    stop: () => server.forceShutdown(),
  }
}

/** One page of an account's verification messages, removals included; the page token is the index it starts at. */
function pageOf(state: HubState, fid: number, fields: NonNullable<ReturnType<typeof readFields>>): Uint8Array {
  const account = state.accounts.get(fid)
  const all = [...(account?.verifications.values() ?? []), ...(account?.removals.values() ?? [])].sort(compareMessages)
  const size = numberIn(fields, 2) || all.length
  const start = Number(Buffer.from(bytesIn(fields, 3) ?? []).toString() || 0)
  const next = start + size < all.length ? Buffer.from(String(start + size)) : new Uint8Array()
  return join([...all.slice(start, start + size).map((message) => bytes(1, encode(message))), bytes(2, next)])
}

/** As Snapchain sends a message: the bytes that were signed, and no message inside. */
function encode(message: Message): Uint8Array {
  return join([
    bytes(2, Buffer.from(message.hash.slice(2), 'hex')),
    number(3, 1),
    bytes(4, Buffer.from(message.signature, 'base64')),
    number(5, 1),
    bytes(6, Buffer.from(message.signer.slice(2), 'hex')),
    bytes(7, readHubMessage(message)?.dataBytes ?? new Uint8Array()),
  ])
}
