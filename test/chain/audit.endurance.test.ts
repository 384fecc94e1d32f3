import { keccak256, toBytes } from 'viem'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { accountOf, type DevChain, funder, startDevChain } from '../../devnet/chain/chain.ts'
import { recoverFid, registerFid, transferFid } from '../../devnet/chain/farcaster.ts'
import {
  appendResponse,
  approveOperator,
  giveFeedback,
  register,
  revokeFeedback,
  setAgentUri,
  setAgentWallet,
  setMetadata,
  setOperator,
  transferIdentity,
} from '../../devnet/chain/identity.ts'
import { mint, pay, payInColumns, signAuthorization } from '../../devnet/chain/payments.ts'
import { memorySource } from '../doubles/portal/memory-source.ts'
import { readBlocks } from '../doubles/portal/rpc-blocks.ts'
import { startPortal } from '../doubles/portal/server.ts'
import type { RpcAnswer, RpcQuestion } from '../doubles/rpc-faults.ts'
import { startRpcProxy } from '../doubles/rpc-proxy.ts'
import { cleanTables } from '../support/chain/index-chain.ts'
import { type ChainTables, describeDifference, readChainTables } from '../support/chain/oracle.ts'
import { spawnProcessor } from '../support/chain/processor.ts'
import { keepTo, verifiedScope, verify } from '../support/chain/scope.ts'
import { chainSettings } from '../support/chain/settings.ts'
import { createTestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

// A node that leaves out the logs of some blocks undetectably, and a Portal that has them: the audit mends the rows.

const [holder, heir, client, stranger] = ['holder', 'heir', 'client', 'stranger'].map((name) => accountOf(name)) as [
  ReturnType<typeof accountOf>,
  ReturnType<typeof accountOf>,
  ReturnType<typeof accountOf>,
  ReturnType<typeof accountOf>,
]
const finality = 3 // blocks
const timeout = 400_000

let chain: DevChain
/** Blocks that the Portal has from the start; `lost`: heights whose logs the node leaves out; `rest`: later blocks. */
let history: Awaited<ReturnType<typeof readBlocks>>
const lost = new Set<number>()
let rest: typeof history
/** Block before the first change of identity 0 whose logs the node does return. */
let told: number
let clean: ChainTables

const height = async () => Number(await chain.client.getBlockNumber())
type Step = Parameters<DevChain['execute']>
async function lose(...step: Step) {
  await chain.execute(...step)
  lost.add(await height())
}
const pays = async (name: string, to = heir.address) =>
  signAuthorization(chain, holder, { to, value: 5n, nonce: keccak256(toBytes(name)) })

beforeAll(async () => {
  chain = await startDevChain('optimism', { funded: [holder, heir, client].map(({ address }) => address) })
  await chain.execute(funder, mint(chain, holder.address, 1_000_000n))
  await chain.execute(holder, register('https://agents.example/first'))
  await chain.execute(holder, register('https://agents.example/second'))
  await chain.execute(client, giveFeedback({ agentId: 0n, value: 1n }))
  await chain.execute(funder, registerFid(7n, holder.address))
  await chain.execute(funder, registerFid(8n, client.address))
  await chain.execute(funder, recoverFid(8n, accountOf('who recovers').address))
  await chain.execute(funder, pay(await pays('history')))
  history = await readBlocks(chain.rpc, 0, await height())

  await lose(holder, register('https://agents.example/third'))
  await chain.execute(holder, setAgentUri(2n, 'https://agents.example/third/again'))
  await lose(holder, setAgentUri(0n, 'https://agents.example/first/again'))
  await lose(holder, setMetadata(0n, { key: 'kept', value: '0x01' }))
  await lose(holder, await setAgentWallet(chain, { agentId: 0n, wallet: heir, owner: holder.address }))
  told = await height()
  await chain.execute(holder, setMetadata(0n, { key: 'told', value: '0x02' }))
  await lose(holder, transferIdentity(1n, holder.address, heir.address))
  await lose(client, giveFeedback({ agentId: 1n, value: 2n }))
  await lose(heir, approveOperator(1n, stranger.address))
  await lose(heir, setOperator(stranger.address, true))
  await lose(heir, appendResponse(1n, client.address, 1n, 'https://agents.example/why'))
  await chain.execute(client, revokeFeedback(1n, 1n))
  await lose(client, revokeFeedback(0n, 1n))
  await lose(funder, transferFid(7n, heir.address))
  await lose(funder, recoverFid(7n, stranger.address))
  await lose(funder, pay(await pays('lost')))
  await chain.execute(funder, pay(await pays('told')))
  await lose(funder, pay(await pays('lost and not verified', stranger.address)))
  await lose(funder, payInColumns(chain, [await pays('column'), await pays('columns', stranger.address)]))
  await chain.client.mine({ blocks: finality + 1 })
  rest = await readBlocks(chain.rpc, history.length, await height())
  clean = stateless(await cleanTables(chain, { finality }))
}, timeout)
afterAll(() => chain?.stop())

const stateless = (tables: ChainTables) => ({ ...tables, chain_state: [] })

/** Empties the logs of lost blocks in the answers of every method, and the logs bloom in their headers. */
function forgetful(answers: RpcAnswer[], questions: RpcQuestion[]): RpcAnswer[] {
  type Placed = Record<string, unknown> & { blockNumber?: string; number?: string }
  const isLost = ({ blockNumber, number }: Placed) => lost.has(Number(blockNumber ?? number))
  const changes: Record<string, (result: never) => unknown> = {
    eth_getLogs: (logs: Placed[]) => logs.filter((log) => !isLost(log)),
    eth_getBlockReceipts: (receipts: Placed[]) =>
      receipts.map((receipt) => (isLost(receipt) ? { ...receipt, logs: [] } : receipt)),
    eth_getBlockByNumber: (block: Placed) => (isLost(block) ? { ...block, logsBloom: `0x${'00'.repeat(256)}` } : block),
  }
  changes.eth_getBlockByHash = changes.eth_getBlockByNumber as (typeof changes)[string]
  return answers.map((answer) => {
    const change = changes[questions.find(({ id }) => id === answer.id)?.method ?? '']
    return change && answer.result ? { ...answer, result: change(answer.result as never) } : answer
  })
}

interface Forgetting {
  readonly scope?: 'all' | 'verified'
  /** Whether the node refuses a method; default: it has them all. */
  readonly refuses?: (method: string) => boolean
}

/** A processor of the forgetful node; it audits as soon as the Portal has more than `history`. */
async function startForgetting({ scope = 'all', refuses }: Forgetting = {}) {
  const source = memorySource({ blocks: history, chunkBlocks: 4 })
  const portal = await startPortal({ datasets: { 'optimism-mainnet': source } })
  const proxy = await startRpcProxy(chain.rpc, { refuses })
  proxy.faults.add({ kind: 'answers', change: forgetful }, { times: Infinity })
  const database = await createTestDatabase()
  if (scope === 'verified') await verify(database.pool, 1, heir.address)
  const { optimism } = chainSettings(chain, { finality, rpc: proxy.url, portal: portal.url })
  const processor = await spawnProcessor({
    chain: 'optimism',
    databaseUrl: database.url,
    chainSettings: { optimism },
    env: { AUDIT_PAUSE_SECONDS: '0.2', ...(scope === 'verified' ? verifiedScope : {}) },
  })
  onTestFinished(async () => {
    await processor.stop()
    await database.drop()
    await proxy.close()
    await portal.stop()
  })
  await processor.untilIndexed(await height())
  return { source, portal, database, processor }
}

test.each([
  ['in the receipts of a block', 'all', () => false],
  ['in eth_getLogs', 'all', (method: string) => method === 'eth_getBlockReceipts'],
  ['in receipts, where the settlements of verified addresses are kept', 'verified', () => false],
] as const)('what a node leaves out %s is mended in a running processor', { timeout }, async (_, scope, refuses) => {
  const { source, database, processor } = await startForgetting({ scope, refuses })
  const expected = scope === 'all' ? clean : { ...clean, settlement: keepTo(clean.settlement, [heir.address]) }
  const difference = async () =>
    describeDifference(stateless(await readChainTables(database.pool, 'optimism')), expected)
  const before = await difference()
  const ofAgents = ['registration', 'registration_transfer', 'registration_metadata', 'feedback', 'feedback_response']
  for (const table of [
    ...ofAgents,
    'registration_approval',
    'registry_event',
    'registration_operator',
    'fid_custody',
  ]) {
    expect(before).toMatch(new RegExp(`^${table}: .* [1-9]\\d* missing`, 'm'))
  }
  expect(before).toMatch(/^settlement: .* [1-9]\d* missing/m)

  // Identity 0 changed again in a block that the Portal does not have yet, so its repair waits; identity 2 did not.
  source.append(rest.filter(({ header }) => header.number <= told))
  await until('one waits, and the other is mended', async () => {
    const { rows } = await database.pool.query(
      `select (select array_agg(agent_id::int) from audit_agent) as waiting,
              (select owner is not null from registration where agent_id = 2) as mended`,
    )
    return rows[0].mended && String(rows[0].waiting) === '0'
  })
  source.append(rest.filter(({ header }) => header.number > told))
  await until('the rows are those of the chain', async () => (await difference()) === '')
  await until('none waits', async () => (await database.pool.query('select from audit_agent')).rowCount === 0)
  expect(processor.output()).toMatch(/the audit of blocks \d+ to \d+ of optimism: \d settlements were missing/)
  const { rows } = await database.pool.query(
    'select sum(agents)::int as agents, sum(custody)::int as custody from audit_certificate',
  )
  expect(rows[0].agents).toBeGreaterThanOrEqual(3)
  expect(rows[0].custody).toBe(3) // one given away, one recovered, and an operator named
  const { rows: kinds } = await database.pool.query('select kind from fid_custody order by block_number')
  expect(kinds).toEqual([{ kind: 'r' }, { kind: 't' }, { kind: 'r' }]) // the first from the Portal's history
})

test.each(['all', 'verified'] as const)(
  'blocks at the tip are committed while an audit of %s settlements waits for its source',
  { timeout },
  async (scope) => {
    const { source, portal, database, processor } = await startForgetting({ scope })
    const asked = portal.requests.length
    portal.faults.add({ kind: 'silence', lines: 0 }, { times: Infinity })
    source.append(rest)
    await until('the audit has asked', () =>
      portal.requests.slice(asked).some(({ path, status }) => path.endsWith('/finalized-stream') && status === 200),
    )
    for (let blocks = 0; blocks < 5; blocks++) {
      await chain.client.mine({ blocks: 1 })
      await processor.untilIndexed(await height())
    }
    expect((await database.pool.query('select from audit_certificate')).rowCount).toBe(0) // it waits still
  },
)
