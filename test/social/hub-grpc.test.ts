import { FidTimestampRequest, MessageData, MessagesResponse, MessageType } from '@farcaster/core'
import { Client, credentials } from '@grpc/grpc-js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startHubGrpc } from '../../devnet/hub/grpc.ts'
import { HubState } from '../../devnet/hub/state.ts'
import { appKeyOf, walletOf } from '../../devnet/world/keys.ts'
import { createRemovals, removalsMethod } from '../../social/hub-grpc.ts'
import { readHubMessage } from '../../trust/hub-message.ts'

// The gRPC method of a hub that lists an account's removed verifications, over a real socket.

const fid = 7
let state: HubState
let hub: Awaited<ReturnType<typeof startHubGrpc>>
beforeEach(async () => {
  state = new HubState(() => new Date('2026-03-01T00:00:00Z'))
  state.addAccount({ fid, custody: walletOf('removals', 'custody').address, appKey: appKeyOf('removals', 'app') })
  hub = await startHubGrpc(state)
})
afterEach(() => hub.stop())

/** Verifies `count` addresses and removes all but the last; returns the removed ones. */
function verify(count: number): string[] {
  const addresses = Array.from({ length: count }, (_, at) => `0x${(at + 1).toString(16).padStart(40, '0')}`)
  for (const address of addresses) state.addVerification(fid, address)
  for (const address of addresses.slice(0, -1)) state.removeVerification(fid, address)
  return addresses.slice(0, -1)
}

async function asked(timeoutMs?: number) {
  let slots = 0
  const slot = async () => {
    slots += 1
  }
  const removals = createRemovals({ url: hub.url, slot, ...(timeoutMs !== undefined && { timeoutMs }) })
  try {
    return { found: await removals.ofFid(fid), slots }
  } finally {
    removals.close()
  }
}

test('the removals of all pages are read, each as the HTTP API would show it', async () => {
  const taken = verify(150)
  const { found, slots } = await asked()
  expect(slots).toBe(2)
  expect(found.map(({ data }) => data.verificationRemoveBody.address).sort()).toEqual(taken.sort())
  const kept = [...state.accounts.get(fid)!.removals.values()]
  expect(found).toEqual(expect.arrayContaining(kept))
  for (const one of found) expect(readHubMessage(one)).toBeDefined()
})

test('an account that took nothing back has no removals, and one that nobody knows has none', async () => {
  expect((await asked()).found).toEqual([])
  state.accounts.clear()
  expect((await asked()).found).toEqual([])
})

test('what does not answer in time, or not at all, throws NoAnswer', async () => {
  hub.hang()
  await expect(asked(200)).rejects.toThrow(expect.objectContaining({ name: 'NoAnswer', failure: 'unavailable' }))
  hub.stop()
  await expect(asked()).rejects.toThrow(expect.objectContaining({ name: 'NoAnswer', failure: 'unavailable' }))
})

test("questions and answers are those of the network's own library", async () => {
  const [address] = verify(2)
  const client = new Client(new URL(hub.url).host, credentials.createInsecure())
  const question = FidTimestampRequest.encode(FidTimestampRequest.create({ fid, pageSize: 10 })).finish()
  const answer = await new Promise<Buffer>((resolve, reject) => {
    const asBytes = (value: Uint8Array) => Buffer.from(value)
    client.makeUnaryRequest(
      removalsMethod,
      asBytes,
      (given) => given,
      question,
      (error, given) => (given ? resolve(given) : reject(error)),
    )
  })
  client.close()
  const messages = MessagesResponse.decode(answer).messages.map(({ dataBytes }) => MessageData.decode(dataBytes!))
  const removal = messages.find(({ type }) => type === MessageType.VERIFICATION_REMOVE)
  expect(messages).toHaveLength(2)
  expect(removal?.fid).toBe(fid)
  expect(`0x${Buffer.from(removal!.verificationRemoveBody!.address).toString('hex')}`).toBe(address)
})
