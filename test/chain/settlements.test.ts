import { type Hash, type Hex, isAddressEqual, type Log, parseEventLogs } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chains } from '../../config/chains.ts'
import { agentIncome, allIncome } from '../../db/queries/income/agent-income.ts'
import { channelsAbi, commerceEscrowAbi, dollarAbi, jobsAbi } from '../../devnet/chain/abi.ts'
import { accountOf, type DevChain, startDevChain } from '../../devnet/chain/chain.ts'
import { rollUpSettlements } from '../../enrichment/periodic/rollup.ts'
import { runIncome } from '../derive/passes.ts'
import { memorySource } from '../doubles/portal/memory-source.ts'
import { readBlocks } from '../doubles/portal/rpc-blocks.ts'
import { type Portal, startPortal } from '../doubles/portal/server.ts'
import { type RpcProxy, startRpcProxy } from '../doubles/rpc-proxy.ts'
import { heldByChannels, heldByEscrow, incomeOfLogs } from '../support/chain/income-oracle.ts'
import { type ChainIndex, indexChain } from '../support/chain/index-chain.ts'
import { describeDifference } from '../support/chain/oracle.ts'
import { insert, seedAgent } from '../support/seed.ts'
import { until } from '../support/until.ts'
import { batchCases } from './cases/batch.ts'
import { channelCases } from './cases/channels.ts'
import { contractCases } from './cases/contract.ts'
import { directCases } from './cases/direct.ts'
import { escrowCases } from './cases/escrows.ts'
import { jobCases } from './cases/jobs.ts'
import { lookAlikeCases } from './cases/look-alikes.ts'
import { paymentCases } from './cases/payments.ts'
import { type CaseOutcome, castAddresses, type ExpectedSettlement, setStage } from './cases/settlement-case.ts'
import { unpaidCases } from './cases/unpaid.ts'

const cases = [
  ...directCases,
  ...batchCases,
  ...contractCases,
  ...unpaidCases,
  ...paymentCases,
  ...channelCases,
  ...escrowCases,
  ...jobCases,
  ...lookAlikeCases,
]
/** Blocks; more than the cases mine, so that a processor that is there when they are mined sees each of them hot. */
const finality = 120
const { dataset } = chains.base

let chain: DevChain
/** The index of a processor that saw every block while it was hot. */
let live: ChainIndex
/** Share of the settlements in `live` that were in hot blocks before the cases became final. */
let cameHot: number
/** The index of a processor that started when every block of the cases was final. */
let late: ChainIndex
/** The same as `late`, from a node without debug_ and trace_ methods. */
let traceless: ChainIndex
let proxy: RpcProxy
/** The same as `late`, without a node: from a Portal, and `fromArchive` from a v2 archive. */
let fromPortal: ChainIndex
let fromArchive: ChainIndex
let portal: Portal
const outcomes = new Map<string, CaseOutcome | Error>()

beforeAll(async () => {
  chain = await startDevChain('base', { funded: castAddresses })
  const stage = await setStage(chain)
  live = await indexChain(chain, { finality })
  await live.untilHead()
  for (const { name, act } of cases) {
    outcomes.set(name, await act(stage).catch((error: Error) => error))
  }
  await live.untilHead()
  cameHot = await hotShare(live)
  await chain.client.mine({ blocks: finality })
  proxy = await startRpcProxy(chain.rpc, { refuses: (method) => /^(debug|trace)_/.test(method) })
  traceless = await indexChain(chain, { finality, rpc: proxy.url })
  late = await indexChain(chain, { finality })
  const blocks = await readBlocks(chain.rpc, 0, Number(await chain.client.getBlockNumber()))
  portal = await startPortal({ datasets: { [dataset]: memorySource({ blocks }) } })
  fromPortal = await indexChain(chain, { rpc: null, portal: portal.url })
  fromArchive = await indexChain(chain, { rpc: null, gateway: portal.gatewayUrl(dataset) })
  for (const index of [live, late, traceless, fromPortal, fromArchive]) await index.untilHead()
})

afterAll(async () => {
  for (const index of [live, late, traceless, fromPortal, fromArchive]) await index?.close()
  await proxy?.close()
  await portal?.stop()
  await chain?.stop()
})

describe('from a node with traces', () => {
  test.each(cases)('$name', async ({ name }) => {
    const outcome = outcomeOf(name)
    const found = ({ selector, source }: ExpectedSettlement) => ({ selector, selector_source: source[0] })
    expect(await storedOf(live, outcome.hash)).toEqual(await expectedRows(outcome, found))
    expect(await paymentsOf(live, outcome.hash)).toEqual(await expectedPayments(outcome))
    expect(await unpaidOf(live, outcome.hash)).toEqual(outcome.unpaid ?? {})
  })

  test('nothing else is stored', async () => {
    const expected = cases.map(({ name }) => outcomeOf(name))
    const { settlement, payment, unpaid_authorization } = await live.tables()
    expect(settlement.length).toBe(sumOf(expected.map(({ settlements }) => settlements.length)))
    expect(payment.length).toBe(sumOf(expected.map(({ payments = [] }) => payments.length)))
    expect(unpaid_authorization.length).toBe(sumOf(expected.map(({ unpaid = {} }) => Object.keys(unpaid).length)))
  })

  test('blocks that come final leave the very rows that they left when they came hot', async () => {
    expect(cameHot).toBe(1)
    expect(await hotShare(late)).toBe(0)
    expect(describeDifference(await live.tables(), await late.tables())).toBe('')
  })
})

test.each([
  ['a Portal', () => fromPortal],
  ['a v2 archive', () => fromArchive],
])('%s leaves the very rows that the node leaves', async (_, index) => {
  // An archive holds final blocks alone, so the head in chain_state differs.
  const rows = { ...(await index().tables()), chain_state: [] }
  expect(describeDifference(rows, { ...(await live.tables()), chain_state: [] })).toBe('')
})

describe('from a node without traces', () => {
  test.each(cases)('$name', async ({ name }) => {
    const outcome = outcomeOf(name)
    const found = ({ selector, source, inferred }: ExpectedSettlement) =>
      source === 'calldata' ? { selector, selector_source: 'c' } : { selector: inferred, selector_source: 'i' }
    expect(await storedOf(traceless, outcome.hash)).toEqual(await expectedRows(outcome, found))
    expect(await unpaidOf(traceless, outcome.hash)).toEqual(outcome.unpaid ?? {})
  })

  test('traces were asked for, and only one transaction at a time', () => {
    expect(proxy.asked).toContain('debug_traceTransaction')
    expect([...proxy.asked].filter((method) => /^(debug|trace)_/.test(method))).toEqual(['debug_traceTransaction'])
  })
})

test('income by kind is what the logs of the chain come to, of each agent and of all', async () => {
  const { pool } = late.database
  const { batcher, secondBatcher } = chain.addresses
  const merchant = castAddresses.find((address) => isAddressEqual(address, accountOf('merchant of the cases').address))
  const given = { 1: [merchant], 2: ['0x00000000000000000000000000000000000be0be', secondBatcher], 3: [batcher] }
  const agents = Object.fromEntries(
    Object.entries(given).map(([fid, addresses]) => [fid, addresses.map((address) => String(address).toLowerCase())]),
  )
  const mined = await Promise.all([...outcomes.values()].map((one) => chain.mined((one as CaseOutcome).hash)))
  const last = Math.max(...mined.map(({ blockNumber }) => Number(blockNumber)))
  await until('the cases are final', async () => {
    const { rows } = await pool.query('select from chain_state where finalized_block >= $1', [last])
    return rows.length === 1
  })
  for (const [fid, addresses] of Object.entries(agents)) {
    await seedAgent(pool, { fid: Number(fid), addresses })
    await insert(pool, 'agent_change', { fid, kind: 'upsert', changed_at: new Date() })
  }
  while ((await rollUpSettlements({ pool })) + (await runIncome({ pool })) > 0);
  const expected = await incomeOfLogs(chain, agents)
  for (const fid of [1, 2, 3]) expect(told((await agentIncome(pool, fid)).members)).toEqual(expected[fid])
  expect(told((await allIncome(pool)).members)).toEqual(expected.all)
  expect(Object.keys(expected[1] ?? {}).sort()).toEqual([
    'batch_claim',
    'escrow_capture',
    'escrow_charge',
    'escrow_refund',
    'forwarded',
    'job_release',
    'permit2_exact',
    'permit2_upto',
    'settlement',
  ])
  // Of the channels of the merchant some are never claimed, and some are claimed in part.
  const held = [await heldByChannels(chain, agents[1] ?? []), await heldByEscrow(chain, agents[1] ?? [])]
  for (const amount of held) expect(amount).toBeGreaterThan(0n)
  expect(JSON.parse((await agentIncome(pool, 1)).members.pending ?? '')).toEqual([
    { contract: 'batch_settlement', amount_usdc: Number(held[0]) / 1e6 },
    { contract: 'auth_capture', amount_usdc: Number(held[1]) / 1e6 },
  ])
  // The batch contract is an agent here; over all agents, what it forwards to the other two is not counted twice.
  expect(expected.all?.forwarded).not.toBe(expected[1]?.forwarded)
})

/** Payments and base units by kind, as `count: amount`; both EIP-3009 kinds are summed up as `settlement`. */
function told({ by_kind }: Record<string, string>): Record<string, string> {
  const sums = new Map<string, [number, number]>()
  type Kind = { kind: string; raw: { payments: number; amount_usdc: number } }
  for (const { kind, raw } of JSON.parse(by_kind ?? '[]') as Kind[]) {
    const name = kind.startsWith('eip3009') ? 'settlement' : kind
    const [payments, amount] = sums.get(name) ?? [0, 0]
    sums.set(name, [payments + raw.payments, amount + Math.round(raw.amount_usdc * 1e6)])
  }
  const paid = [...sums].filter(([, [payments, amount]]) => payments > 0 || amount !== 0)
  return Object.fromEntries(paid.map(([name, [payments, amount]]) => [name, `${payments}: ${amount}`]))
}

function outcomeOf(name: string): CaseOutcome {
  const outcome = outcomes.get(name)
  if (outcome instanceof Error) throw outcome
  if (!outcome) throw new Error(`no such case: ${name}`)
  return outcome
}

/** Expected settlement rows of a case: block, log index and time from the receipt, the rest from what was signed. */
async function expectedRows(
  { hash, settlements }: CaseOutcome,
  found: (settlement: ExpectedSettlement) => { selector?: Hex; selector_source?: string },
) {
  const { logs, from, blockNumber } = await chain.mined(hash)
  const { timestamp } = await chain.client.getBlock({ blockNumber })
  const used = parseEventLogs({ abi: dollarAbi, eventName: 'AuthorizationUsed', logs })
  return settlements.map((settlement) => {
    const { token, from: payer, to, value, nonce } = settlement.authorization
    const log = used.find(({ address, args }) => address === token && args.nonce === nonce)
    if (!log) throw new Error('the case is wrong: the chain did not execute the authorization')
    return {
      chain: 'base',
      block_number: Number(blockNumber),
      log_index: log.logIndex,
      block_timestamp: new Date(Number(timestamp) * 1000),
      amount: Number(value),
      token,
      payer: payer.toLowerCase(),
      recipient: to.toLowerCase(),
      facilitator: from,
      payment_nonce: nonce,
      tx_hash: hash,
      ...found(settlement),
    }
  })
}

async function storedOf({ database }: ChainIndex, hash: Hash) {
  const hex = (column: string) => `'0x' || encode(${column}, 'hex') as ${column}`
  const { rows } = await database.pool.query(
    `select chain, block_number, log_index, block_timestamp, amount, ${hex('token')}, ${hex('payer')},
            ${hex('recipient')}, ${hex('facilitator')}, ${hex('payment_nonce')}, ${hex('tx_hash')}, ${hex('selector')},
            selector_source
       from settlement where tx_hash = $1 order by log_index`,
    [Buffer.from(hash.slice(2), 'hex')],
  )
  return rows
}

/** Whether a log is one that a payment contract proves a payment with. */
function isProof({ address, topics, data }: Log): boolean {
  const { permit2Proxy, uptoProxy, channels, commerceEscrow, jobs } = chain.addresses
  if (address === permit2Proxy || address === uptoProxy) return true
  if (address === commerceEscrow)
    return parseEventLogs({ abi: commerceEscrowAbi, logs: [{ topics, data } as Log] }).length > 0
  if (address === jobs) {
    const told = parseEventLogs({ abi: jobsAbi, logs: [{ topics, data } as Log] })
    return told.some(({ args }) => args.amount > 0n)
  }
  const moves = ['Deposited', 'Claimed', 'Refunded', 'WithdrawFinalized']
  return (
    address === channels &&
    parseEventLogs({ abi: channelsAbi, logs: [{ address, topics, data } as Log] }).some((log) =>
      moves.includes(log.eventName),
    )
  )
}

/** Expected payment rows of a case: block, log index and time from the receipt. */
async function expectedPayments({ hash, payments = [] }: CaseOutcome) {
  const { logs, from, blockNumber } = await chain.mined(hash)
  const { timestamp } = await chain.client.getBlock({ blockNumber })
  const transfers = parseEventLogs({ abi: dollarAbi, eventName: 'Transfer', logs })
  const proofs = logs.filter(isProof)
  const authorizations = parseEventLogs({ abi: dollarAbi, eventName: 'AuthorizationUsed', logs })
  const origin = [...authorizations, ...proofs][0]?.logIndex
  let proven = 0
  return payments.map(({ kind, token, payer, payee, gross, net = gross, forwarding, funder }) => {
    const moved = transfers.find(
      ({ address, args }) =>
        address === token &&
        args.value === gross &&
        isAddressEqual(args.to, payee) &&
        (!forwarding || isAddressEqual(args.from, forwarding.forwarder)),
    )
    return {
      kind,
      chain: 'base',
      block_number: Number(blockNumber),
      log_index: forwarding ? moved?.logIndex : proofs[proven++]?.logIndex,
      block_timestamp: new Date(Number(timestamp) * 1000),
      token,
      payer: payer.toLowerCase(),
      payee: payee.toLowerCase(),
      gross: Number(gross),
      net: Number(net),
      facilitator: from,
      tx_hash: hash,
      forwarder: forwarding?.forwarder ?? null,
      origin_log_index: forwarding ? origin : null,
      depth: forwarding?.depth ?? null,
      funder: funder?.toLowerCase() ?? null,
    }
  })
}

async function paymentsOf({ database }: ChainIndex, hash: Hash) {
  const hex = (column: string) => `'0x' || encode(${column}, 'hex') as ${column}`
  const { rows } = await database.pool.query(
    `select kind, chain, block_number, log_index, block_timestamp, ${hex('token')}, ${hex('payer')}, ${hex('payee')},
            gross::float8 as gross, net::float8 as net, ${hex('facilitator')}, ${hex('tx_hash')}, ${hex('forwarder')},
            origin_log_index, depth, ${hex('funder')}
       from payment where tx_hash = $1 order by log_index`,
    [Buffer.from(hash.slice(2), 'hex')],
  )
  return rows
}

/** Count of unpaid authorizations by token, in the block that holds this transaction alone. */
async function unpaidOf({ database }: ChainIndex, hash: Hash) {
  const { blockNumber } = await chain.mined(hash)
  const { rows } = await database.pool.query<{ token: string; count: number }>(
    `select '0x' || encode(token, 'hex') as token, count from unpaid_authorization where block_number = $1`,
    [Number(blockNumber)],
  )
  return Object.fromEntries(rows.map(({ token, count }) => [token, count]))
}

/** Share of the settlements that are in hot blocks: only their rows have an id. */
async function hotShare({ database }: ChainIndex): Promise<number> {
  const { rows } = await database.pool.query('select count(id)::float8 / count(*) as share from settlement')
  return rows[0].share
}

function sumOf(numbers: number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}
