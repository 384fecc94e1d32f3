import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { agentPrices } from '../../../api/schemas/documents/enriched.ts'
import { payeeAnswer } from '../../../api/schemas/documents/payee.ts'
import { chains } from '../../../config/chains.ts'
import type { PaymentKind } from '../../../config/payments.ts'
import { agentPrices as priceRows } from '../../../db/queries/documents/prices.ts'
import { demandFor, paidEndpoint, type Sale } from '../../../devnet/hosts/sellers.ts'
import type { WebHost } from '../../../devnet/hosts/web-host.ts'
import { mint, startAgentsJob, startHosts } from '../../derive/agents/job.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'
import {
  addressOf,
  birth,
  hashOf,
  seedChainState,
  seedPayment,
  seedSettlement,
  seedWallet,
} from '../../support/seed.ts'

// Sellers whose endpoints are read as any other: what each asks for is held against the registry.
const database = testDatabase()
const clock = createClock('2026-06-01T00:00:00Z')
const hours = (count: number) => new Date(birth.getTime() + count * 3_600_000)
let api: TestApi
beforeAll(async () => {
  await seedChainState(database.pool, { chain: 'base', indexed: 400, finalized: 350, at: hours(40) })
  api = await startApi(database)
})
afterAll(() => api.stop())

const stranger = addressOf('stranger')
const walletOf = (fid: number) => addressOf(`agent wallet of ${fid}`)
const ownerOf = (fid: number) => addressOf(`wallet of ${fid}`)
const registry = `eip155:8453:${chains.base.registry.address}`

interface Seller {
  readonly name: string
  readonly payTo: (fid: number) => string
  /** The outcome now, and while the wallet was not set yet. */
  readonly now: string
  readonly before: string
  /** Whether its host lists the agent. Default: true. */
  readonly isListed?: boolean
  readonly hasWallet?: boolean
  readonly extra?: (fid: number) => Sale['extra']
  readonly human?: true
}

const sellers: readonly Seller[] = [
  { name: 'its wallet', payTo: walletOf, now: 'verified-wallet', before: 'no-agent-wallet' },
  { name: 'somebody', payTo: () => stranger, now: 'mismatch', before: 'no-agent-wallet' },
  { name: 'its owner', payTo: ownerOf, now: 'owner-only', before: 'owner-only', human: true },
  {
    name: 'somebody, without a wallet',
    payTo: () => stranger,
    hasWallet: false,
    now: 'no-agent-wallet',
    before: 'no-agent-wallet',
  },
  {
    name: 'its wallet, on a host that does not list it',
    payTo: walletOf,
    isListed: false,
    now: 'endpoint-unlisted',
    before: 'endpoint-unlisted',
  },
  {
    name: 'an account of another kind of chain',
    payTo: () => '7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJeK',
    now: 'not-read',
    before: 'not-read',
  },
  {
    name: 'its wallet, and names itself',
    payTo: walletOf,
    extra: (fid) => ({ erc8004: { agentRegistry: registry, agentId: fid } }),
    now: 'verified-wallet',
    before: 'no-agent-wallet',
  },
  {
    name: 'its wallet, and names somebody else’s agent',
    payTo: () => walletOf(1),
    extra: () => ({ erc8004: { agentRegistry: registry, agentId: '1' } }),
    now: 'no-identity',
    before: 'no-identity',
  },
  {
    name: 'its wallet, and names an agent of a registry that is not indexed',
    payTo: walletOf,
    extra: (fid) => ({ erc8004: { agentRegistry: `eip155:8453:${stranger}`, agentId: fid } }),
    now: 'not-read',
    before: 'not-read',
  },
]

async function publish(host: WebHost, fid: number, { payTo, isListed = true, hasWallet = true, extra }: Seller) {
  const url = `${host.url}/paid`
  host.pages.set('/paid', paidEndpoint({ url, payTo: payTo(fid), extra: extra?.(fid) }))
  const registration = { name: `seller ${fid}`, services: [{ name: 'x402', endpoint: url }] }
  const registrations = isListed ? [{ agentRegistry: registry, agentId: fid }] : []
  host.pages.set('/.well-known/agent-registration.json', { body: { ...registration, registrations } })
  await mint(database.pool, { id: fid, fid, uri: JSON.stringify(registration) })
  if (hasWallet)
    await seedWallet(database.pool, { id: fid, wallet: walletOf(fid), block: 200, logIndex: fid, at: hours(20) })
  return url
}

const ask = async (query: Record<string, string>) =>
  payeeAnswer.parse(await (await api.get(`/api/payee?${new URLSearchParams(query)}`)).json())
const pricesOf = async (fid: number) =>
  agentPrices.parse(await (await api.get(`/api/agent/${fid}/prices`)).json()).prices
/** The API keeps its answers a while. */
const parsedPrices = (rows: Awaited<ReturnType<typeof priceRows>>) => ({ ...rows, prices: JSON.parse(rows!.prices) })
const badgeOf = async (fid: number) => (await api.get(`/badge/${fid}.json`)).text()
const pageOf = async (fid: number) => (await api.get(`/agent/${fid}`)).text()

test('what each seller asks for is told from its agent’s wallet, now and as it was, in prices and SQL alike', async () => {
  const hosts = await startHosts(sellers.length)
  const job = startAgentsJob({ database, clock, hosts })
  const urls: string[] = []
  for (const [index, seller] of sellers.entries()) urls.push(await publish(hosts[index]!, index + 1, seller))
  await job.join()
  await job.read('agent_uri')
  await job.join()
  await job.read('spec_discovery')
  for (const [index, { name, payTo, now, before, human = null }] of sellers.entries()) {
    const fid = index + 1
    const url = urls[index]!
    expect(await ask({ url }), name).toMatchObject({ outcome: now, pay_to: payTo(fid), human: human && { fid } })
    expect((await ask({ url, as_of: hours(19).toISOString() })).outcome, `${name}, before`).toBe(before)
    expect(await pricesOf(fid), name).toMatchObject([
      { pay_to: payTo(fid), payee: { outcome: now, human: human && 'stated' } },
    ])
    const { rows } = await database.pool.query('select outcome from directory.payees where fid = $1', [fid])
    expect(rows, name).toEqual([{ outcome: now }])
    const isOwn = now === 'verified-wallet'
    expect((await badgeOf(fid)).includes('pays to its own wallet'), name).toBe(isOwn)
    expect((await pageOf(fid)).includes(', its own wallet'), name).toBe(isOwn)
  }
})

test('a payTo that is exchanged is found in the next round', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const fid = 101
  const url = await publish(host, fid, sellers[0]!)
  await job.join()
  await job.read('agent_uri')
  await job.join()
  await job.read('spec_discovery')
  expect((await ask({ url })).outcome).toBe('verified-wallet')
  host.pages.set('/paid', paidEndpoint({ url, payTo: stranger }))
  const { rows } = await database.pool.query(
    `select due_at from source_state where source = 'spec_discovery' and subject = $1`,
    [`fid:${fid}`],
  )
  clock.pass(rows[0].due_at.getTime() - clock.now().getTime())
  await job.read('spec_discovery')
  expect(await pricesOf(fid)).toMatchObject([{ pay_to: stranger, payee: { outcome: 'mismatch' } }])
  expect((await ask({ url, network: 'base' })).outcome).toBe('mismatch')
})

test('a price whose payee signed it says until when, in the answer and on the page', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const fid = 102
  const signer = privateKeyToAccount(`0x${'33'.repeat(32)}`)
  const url = await publish(host, fid, { ...sellers[0]!, payTo: () => signer.address })
  const demand = demandFor({ url, payTo: signer.address })
  const { maxTimeoutSeconds: _, extra: __, ...terms } = demand.accepts[0]!
  const payload = { version: 1, resourceUrl: url, ...terms, validUntil: 1_800_000_000 }
  const strings = ['resourceUrl', 'scheme', 'network', 'asset', 'payTo', 'amount'].map((name) => ({
    name,
    type: 'string',
  }))
  const Offer = [{ name: 'version', type: 'uint256' }, ...strings, { name: 'validUntil', type: 'uint256' }]
  const domain = { name: 'x402 offer', version: '1', chainId: 1 } as const
  const signature = await signer.signTypedData({ domain, types: { Offer }, primaryType: 'Offer', message: payload })
  const offers = [{ format: 'eip712', payload, signature }]
  const body = { ...demand, extensions: { 'offer-receipt': { info: { offers } } } }
  host.pages.set('/paid', { status: 402, body })
  await job.join()
  await job.read('agent_uri')
  await job.join()
  await job.read('spec_discovery')
  const by = signer.address.toLowerCase()
  expect(await pricesOf(fid)).toMatchObject([
    { pay_to: by, signature: { by, valid_until: '2027-01-15T08:00:00.000Z' } },
  ])
  expect(await pageOf(fid)).toContain('signed with its key')

  // None of the first seven is of the offer: another amount, token, time or payee, or no final block.
  const seen = clock.now()
  const [token] = chains.base.tokens
  const pay = (block: number, changes: object = {}) =>
    seedSettlement(database.pool, {
      chain: 'base',
      recipient: by,
      block,
      amount: 10_000n,
      token: token!.address,
      at: new Date(seen.getTime() + block),
      ...changes,
    })
  const signed = async () => {
    const { rows } = await database.pool.query(
      `select offer_outcome, paid_tx_hash, paid_block_number, signed_since from directory.prices where fid = $1`,
      [fid],
    )
    return rows[0]
  }
  const none = { offer_outcome: null, paid_tx_hash: null, paid_block_number: null, signed_since: seen }
  await pay(300, { amount: 9_999n })
  await pay(301, { amount: 10_001n })
  await pay(302, { token: stranger })
  await pay(303, { at: new Date(seen.getTime() - 1) })
  await pay(304, { at: new Date(1_800_000_001_000) })
  await pay(305, { recipient: stranger })
  await pay(351)
  // And these two are its own: from itself, and from an address that it verifies.
  await pay(308, { payer: by })
  const own = `insert into income_owner (fid, address) values ($1, $2) on conflict do nothing`
  await database.pool.query(own, [fid, Buffer.from(ownerOf(fid).slice(2), 'hex')])
  await pay(309, { payer: ownerOf(fid) })
  // Nor does what they put into a channel under another's key, or what went back to the payer.
  const log = (kind: PaymentKind, block: number, more: { amount?: bigint; subject?: string } = {}) => {
    const at = new Date(seen.getTime() + block)
    const payment = { kind, block, at, payee: by, payer: stranger, amount: 10_000n, token: token!.address }
    return seedPayment(database.pool, { ...payment, ...more })
  }
  for (const [index, funder] of [by, ownerOf(fid)].entries()) {
    await log('batch_claim', 310 + index)
    const whose = [310 + index, Buffer.from(funder.slice(2), 'hex')]
    await database.pool.query('update payment set funder = $2 where block_number = $1', whose)
  }
  await log('escrow_charge', 312, { subject: hashOf('refunded') })
  await log('escrow_refund', 313, { subject: hashOf('refunded'), amount: -10_000n })
  expect(await signed()).toEqual(none)
  await pay(306)
  // A refund counts once its block is final.
  await log('escrow_charge', 314, { subject: hashOf('refunded later') })
  await log('escrow_refund', 351, { subject: hashOf('refunded later'), amount: -10_000n })
  const fulfilled = { offer_outcome: 'fulfilled', signed_since: seen }
  expect(await signed()).toEqual({ ...fulfilled, paid_tx_hash: hashOf('tx base 314'), paid_block_number: 314 })
  await database.pool.query('update payment set block_number = 315 where block_number = 351 and net < 0')
  const paid = { offer_outcome: 'fulfilled', paid_tx_hash: hashOf('tx base 306'), paid_block_number: 306 }
  expect(await signed()).toEqual({ ...paid, signed_since: seen })
  // A thousand authorizations of nothing to it hide no payment.
  await database.pool.query(
    `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token, payer,
                             recipient, facilitator, payment_nonce, tx_hash)
     select 0, s.block_timestamp, s.block_number, n, s.chain, s.selector_source, s.selector, s.token, s.payer, s.recipient,
            s.facilitator, s.payment_nonce, s.tx_hash
       from settlement s cross join generate_series(1, 1500) n where s.block_number = 309`,
  )
  expect(await signed()).toEqual({ ...paid, signed_since: seen })
  // The offer is the same at the next look, and so is when it was first seen.
  clock.pass(3_600_001)
  await database.pool.query(`update source_state set due_at = $1 where source = 'spec_discovery'`, [clock.now()])
  await job.read('spec_discovery')
  expect(await signed()).toEqual({ ...paid, signed_since: seen })
  await seedPayment(database.pool, {
    kind: 'permit2_exact',
    payee: by,
    payer: stranger,
    block: 307,
    amount: 10_000n,
    at: new Date(seen.getTime() + 307),
    token: token!.address,
  })
  const [price] = agentPrices.parse({ fid, ...parsedPrices(await priceRows(database.pool, fid)) }).prices
  expect(price).toMatchObject({
    signature: {
      since: seen.toISOString(),
      outcome: 'fulfilled',
      payment: { chain: 'base', tx_hash: hashOf('tx base 307'), block_number: 307 },
    },
  })

  // Of a token of finer units, what was paid is in its base units, and not in those of its row.
  const scaled = (is: boolean) =>
    database.pool.query(
      `create or replace function tokens_are_scaled() returns boolean language sql immutable parallel safe as 'select ${is}'`,
    )
  await scaled(true)
  onTestFinished(async () => void (await scaled(false)))
  const exact = (block: number, units: number) =>
    database.pool.query(
      `insert into exact_amount (id, chain, block_number, log_index, base_units, decimals) values ($1, 'base', $2, 0, $3, 18)`,
      [`exact ${block}`, block, units],
    )
  await exact(306, 10_000_000)
  await exact(307, 10_000_000)
  await pay(310, { amount: 7n })
  await exact(310, 10_000)
  expect(await signed()).toMatchObject({ paid_block_number: 310 })
})
