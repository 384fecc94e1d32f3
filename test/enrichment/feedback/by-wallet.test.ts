import { keccak256, type LocalAccount, toBytes } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accountOf, type Call, type DevChain, funder, startDevChain } from '../../../devnet/chain/chain.ts'
import * as identity from '../../../devnet/chain/identity.ts'
import { mint, pay, signAuthorization } from '../../../devnet/chain/payments.ts'
import { startHub } from '../../../devnet/hub/server.ts'
import { HubState } from '../../../devnet/hub/state.ts'
import { deriveAll } from '../../derive/again.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { type ChainIndex, indexChain } from '../../support/chain/index-chain.ts'
import { createClock, startJob } from '../../support/enrichment-job.ts'

/**
 * Agents that rate each other by wallet, before and after a registration is sold. Blocks, signatures and the settlement of
 * the dollars are a node's, and processor, job and API are the real ones. The registries and the dollar are look-alikes
 * (devnet/contracts, compiled by us) at the addresses of the real ones: functions, events and refusals of those, not their
 * bytecode.
 */

const start = Date.parse('2026-05-01T00:00:00Z')
const finality = 1
const names = [
  'seller',
  'seller’s second',
  'buyer',
  'peer',
  'person',
  'former wallet',
  'wallet',
  'buyer’s wallet',
  'peer’s wallet',
  'customer',
  'critic',
  'operator',
] as const
type Name = (typeof names)[number]
const people = Object.fromEntries(names.map((name) => [name, accountOf(`rated by wallet: ${name}`)])) as Record<
  Name,
  LocalAccount
>
const nameOf = new Map(names.map((name) => [people[name].address.toLowerCase(), name]))
const sellerFid = 1
const buyerFid = 2
const peerFid = 3
const personFid = 4

let chain: DevChain
let index: ChainIndex
let api: TestApi
let hub: Awaited<ReturnType<typeof startHub>>
let job: Awaited<ReturnType<typeof startJob>>
const clock = createClock(new Date(start).toISOString())

beforeAll(async () => {
  const funded = names.map((name) => people[name].address)
  chain = await startDevChain('base', { funded, genesisTime: start / 1_000 })
  index = await indexChain(chain, { finality })
  const state = new HubState(clock.now)
  const verified: [number, Name][] = [
    [sellerFid, 'seller'],
    [sellerFid, 'seller’s second'],
    [buyerFid, 'buyer'],
    [peerFid, 'peer'],
    [personFid, 'person'],
  ]
  for (const fid of new Set(verified.map(([fid]) => fid)))
    state.addAccount({ fid, custody: accountOf(`${fid}`).address })
  for (const [fid, name] of verified) state.addVerification(fid, people[name].address)
  hub = await startHub(state)
  job = await startJob({ ...index, clock, env: { HUB_URL: hub.url } })
  api = await startApi(index.database, { now: () => clock.pass(60_000).getTime() })
})
afterAll(async () => {
  await api?.stop()
  await job?.close()
  await hub?.stop()
  await index?.close()
  await chain?.stop()
})

/** The next block, a minute after the one before, with one call. */
async function act(by: Name, call: Call) {
  clock.pass(60_000)
  await chain.client.setNextBlockTimestamp({ timestamp: BigInt(Math.floor(clock.now().getTime() / 1_000)) })
  return chain.execute(people[by], call)
}
const rate = (by: Name, agentId: bigint) => act(by, identity.giveFeedback({ agentId, value: 90n, tag1: 'starred' }))
const refused = (by: Name, agentId: bigint) => expect(rate(by, agentId), by).rejects.toThrow('reverted')
const register = async (by: Name) =>
  identity.newIdentity(chain, (await act(by, identity.register('data:,'))).transactionHash)
async function nameWallet(agentId: bigint, owner: Name, wallet: Name) {
  const request = { agentId, wallet: people[wallet], owner: people[owner].address }
  await act(owner, await identity.setAgentWallet(chain, request))
}
/** A settlement (EIP-3009): the payer signs, somebody else sends. */
async function settle(payer: Name, to: Name) {
  const nonce = keccak256(toBytes(`${payer} pays ${to} at ${clock.now().getTime()}`))
  await chain.execute(funder, mint(chain, people[payer].address, 1_000_000n))
  const request = { to: people[to].address, value: 1_000_000n, nonce }
  return act('operator', pay(await signAuthorization(chain, people[payer], request)))
}

/** What the API says of the feedback on an agent's registration, the oldest first, once all is final, read and derived. */
async function told(fid: number, agentId: bigint): Promise<string[]> {
  await chain.client.mine({ blocks: finality + 1 })
  clock.pass(600_000)
  await index.untilHead()
  await job.run()
  await deriveAll({ pool: index.database.pool, now: clock.now, settlementOverloads: 'spec' })
  expect(job.failures).toEqual([])
  const response = await api.get(`/api/agent/${fid}/feedback?limit=100`)
  expect(response.status).toBe(200)
  const { feedback } = (await response.json()) as { feedback: Told[] }
  return feedback
    .filter(({ erc8004_id }) => BigInt(erc8004_id) === agentId)
    .map((one) =>
      [
        `${nameOf.get(one.client_address)} ${one.feedback_index}: ${one.client}`,
        ...(one.client_fid === null ? [] : [`of ${one.client_fid}`]),
        ...(one.paid ? ['paid'] : []),
        one.payment ? `${one.grounds} ${one.payment.tx_hash}` : one.grounds,
        ...(one.before_holder ? ['before the holder'] : []),
        ...(one.revoked_at ? ['revoked'] : []),
      ].join(', '),
    )
    .reverse()
}
interface Told {
  readonly erc8004_id: string
  readonly client_address: string
  readonly feedback_index: number
  readonly client: string
  readonly client_fid: number | null
  readonly paid: boolean
  readonly grounds: string
  readonly payment: { readonly tx_hash: string } | null
  readonly before_holder: boolean
  readonly revoked_at: string | null
}

test('agents that rate each other by wallet are told apart from customers, before and after a registration is sold', async () => {
  const sold = await register('seller')
  const kept = await register('seller')
  await register('buyer')
  const peers = await register('peer')
  await nameWallet(peers, 'peer', 'peer’s wallet')
  await nameWallet(sold, 'seller', 'former wallet')
  await nameWallet(sold, 'seller', 'wallet')
  await act('seller', identity.approveOperator(sold, people.operator.address))
  const { transactionHash: paid } = await settle('customer', 'wallet')
  const { transactionHash: given } = await settle('person', 'seller')
  await settle('former wallet', 'wallet')

  await refused('seller', sold)
  await refused('operator', sold)
  const others = ['wallet', 'former wallet', 'seller’s second', 'peer', 'peer’s wallet'] as const
  for (const client of [...others, 'buyer', 'person', 'customer', 'critic'] as const) await rate(client, sold)
  await rate('wallet', peers)
  await act('critic', identity.revokeFeedback(sold, 1n))
  expect(await told(sellerFid, sold)).toEqual([
    'wallet 1: self, of 1, none',
    'former wallet 1: self, of 1, none',
    'seller’s second 1: self, of 1, none',
    'peer 1: agent, of 3, none',
    'peer’s wallet 1: agent, of 3, none',
    'buyer 1: agent, of 2, none',
    `person 1: account, of 4, paid, payment ${given}`,
    `customer 1: stranger, paid, payment ${paid}`,
    'critic 1: stranger, none, revoked',
  ])
  expect(await told(peerFid, peers)).toEqual(['wallet 1: agent, of 1, none'])

  const { seller, buyer } = people
  await act('seller', identity.transferIdentity(sold, seller.address, buyer.address))
  await nameWallet(sold, 'buyer', 'buyer’s wallet')
  await refused('buyer', sold)
  for (const client of ['seller', ...others, 'person', 'buyer’s wallet', 'customer', 'operator'] as const)
    await rate(client, sold)
  const { transactionHash: again } = await settle('customer', 'buyer’s wallet')
  await rate('customer', sold)
  await rate('buyer’s wallet', kept)
  await rate('wallet', kept)
  await act('customer', identity.revokeFeedback(sold, 2n))
  expect(await told(buyerFid, sold)).toEqual([
    'wallet 1: self, of 1, none, before the holder',
    'former wallet 1: self, none, before the holder',
    'seller’s second 1: self, of 1, none, before the holder',
    'peer 1: agent, of 3, none, before the holder',
    'peer’s wallet 1: agent, of 3, none, before the holder',
    'buyer 1: self, of 2, none, before the holder',
    'person 1: account, of 4, none, before the holder',
    'customer 1: stranger, none, before the holder',
    'critic 1: stranger, none, before the holder, revoked',
    'seller 1: self, of 2, none',
    'wallet 2: stranger, none',
    'former wallet 2: stranger, none',
    'seller’s second 2: agent, of 1, none',
    'peer 2: agent, of 3, none',
    'peer’s wallet 2: agent, of 3, none',
    'person 2: account, of 4, none',
    'buyer’s wallet 1: self, of 2, none',
    'customer 2: stranger, none, revoked',
    'operator 1: stranger, none',
    `customer 3: stranger, paid, payment ${again}`,
  ])
  expect(await told(sellerFid, kept)).toEqual(['buyer’s wallet 1: agent, of 2, none', 'wallet 1: self, of 1, none'])
  expect(await told(sellerFid, sold)).toEqual([])
})
