import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { readChains } from '../../chains.file.ts'
import { tallyPaymentsWithin } from '../../db/queries/chain/payments/payments.ts'
import { type DevChain, startDevChain } from '../../devnet/chain/chain.ts'
import { Auditor } from '../../processors/audit/auditor.ts'
import { sourceOf } from '../../processors/history/source-address.ts'
import { openHistory } from '../../processors/history/sources.ts'
import type { Scope } from '../../processors/scope/scope.ts'
import { memorySource } from '../doubles/portal/memory-source.ts'
import { readBlocks } from '../doubles/portal/rpc-blocks.ts'
import { startPortal } from '../doubles/portal/server.ts'
import { runBackfill } from '../support/chain/backfill.ts'
import { forkHere } from '../support/chain/branches.ts'
import { type ChainIndex, indexChain } from '../support/chain/index-chain.ts'
import { describeDifference } from '../support/chain/oracle.ts'
import { chainSettings } from '../support/chain/settings.ts'
import { patienceMs, until } from '../support/until.ts'
import { prepareTraffic, trafficAddresses, trafficBranch } from './traffic.ts'

const finality = 2

let chain: DevChain
let index: ChainIndex
beforeAll(async () => {
  chain = await startDevChain('base', { funded: trafficAddresses })
  await prepareTraffic(chain)
  const fork = await forkHere(chain)
  await fork.mine(await trafficBranch(chain, 'before payments were', 6))
  await chain.client.mine({ blocks: finality })
  index = await indexChain(chain, { finality })
  await untilFinal()
})
afterAll(async () => {
  await index?.close()
  await chain?.stop()
})

/** Resolves once the head is indexed and the stored final block is as high as it can be. */
async function untilFinal() {
  await index.untilHead()
  const head = Number(await chain.client.getBlockNumber())
  await until('the final block is known', async () => {
    const { rows } = await index.database.pool.query('select finalized_block from chain_state')
    return rows[0]?.finalized_block === head - finality
  })
}

const run = (...args: string[]) =>
  runBackfill({
    databaseUrl: index.database.url,
    chainSettings: chainSettings(chain, { finality }),
    args: ['--chain', 'base', '--legs', ...args],
  })

test('payments of blocks that were read without them are found, once, and certified', async () => {
  const { pool } = index.database
  const expected = await index.tables()
  expect(expected.payment.length).toBeGreaterThan(6)
  const head = Number(await chain.client.getBlockNumber())
  const nothing = await run()
  expect(nothing).toMatchObject({ code: 0, stderr: '', stdout: 'no blocks of base lack their payments\n' })

  await pool.query('delete from payment')
  expect(expected.builder_code.length).toBeGreaterThan(6)
  await pool.query('delete from builder_code')
  await pool.query(`insert into payment_pass (chain, from_block, to_block, next_block) values ('base', 0, $1, 0)`, [
    head,
  ])
  const first = await run()
  expect(first.stderr).toBe('')
  expect(first.code).toBe(0)
  expect(first.stdout).toContain(`blocks ${head - finality + 1} to ${head} of base are not final yet`)
  expect(describeDifference(await index.tables(), expected)).toBe('')

  await chain.client.mine({ blocks: finality })
  await untilFinal()
  const second = await run()
  const certificate =
    /certificate: base 0 to \d+: \d+ payments, amount \d+, checksum [0-9a-f]{16}, first block 0x[0-9a-f]{64}/
  expect(second.stdout).toMatch(certificate)
  const again = await run()
  expect(again.stdout).toBe(second.stdout.match(/certificate:.*\n/)?.[0])
  expect((await index.tables()).payment).toEqual(expected.payment)
  expect((await index.tables()).builder_code).toEqual(expected.builder_code)
  const { rows } = await pool.query('select payments::int, amount::int from payment_pass')
  const sums = await pool.query('select count(*)::int as payments, sum(gross)::int as amount from payment')
  expect(rows).toEqual(sums.rows)
})

const one = '(select block_number, log_index from payment order by block_number, log_index limit 1 offset %)'
const where = (at: number) => `where (block_number, log_index) = ${one.replace('%', String(at))}`
const faults = [
  `delete from payment ${where(0)}`,
  `update payment set gross = gross + 1, net = net + 1 ${where(0)}`,
  `update payment set payee = payer ${where(2)}`,
  `insert into payment
   select 'base-surplus', chain, block_number, 9999, block_timestamp, 'permit2_exact', token, payer, payee, gross, net, facilitator,
          tx_hash
     from payment ${where(1)}`,
  'delete from builder_code where id = (select min(id) from builder_code)',
  `update builder_code set facilitator = 'somebody' where id = (select max(id) from builder_code)`,
]

/** Audits all final blocks against a Portal, in a scope; returns what was mended and the certificates. */
async function audit(scope: Scope) {
  const { pool, url } = index.database
  const head = Number(await chain.client.getBlockNumber())
  const blocks = await readBlocks(chain.rpc, 0, head)
  const portal = await startPortal({ datasets: { 'base-mainnet': memorySource({ blocks, chunkBlocks: 100 }) } })
  const file = chainSettings(chain, { finality, portal: portal.url })
  const { base } = readChains({ env: {}, file })
  const source = sourceOf(base, undefined)
  const auditor = new Auditor({
    databaseUrl: url,
    chain: base,
    scope,
    source: source.kind,
    openHistory: (wanted) => openHistory(source, wanted),
    pauseMs: patienceMs,
    log: { info: () => {}, warn: () => {} } as never,
  })
  onTestFinished(async () => {
    await auditor.close(1_000)
    await portal.stop()
  })
  await pool.query('delete from head_range')
  await pool.query('delete from audit_certificate')
  await pool.query(`insert into head_range (chain, from_block, to_block, next_block) values ('base', 0, $1, 0)`, [
    head - finality,
  ])
  expect(await auditor.audit()).toBe(true)
  const { rows } = await pool.query(
    'select missing, surplus, changed, settlements::int, payments::int, payment_checksum from audit_certificate',
  )
  return { mended: auditor.mended, certificates: rows }
}

/** Counts of stored settlements and payments, as in a certificate; null: those to any recipient. */
async function tally(payees: readonly Buffer[] | null) {
  const { pool } = index.database
  const { rows } = await pool.query(
    `select (select count(*)::int from settlement where $1::bytea[] is null or recipient = any ($1)) as settlements,
            (select count(*)::int from payment where $1::bytea[] is null or payee = any ($1)) as payments`,
    [payees],
  )
  return rows[0]
}

test('payments that are missing, too many or wrong are mended by an audit', async () => {
  const { pool } = index.database
  const expected = await index.tables()
  for (const fault of faults) await pool.query(fault)
  expect(describeDifference(await index.tables(), expected)).toMatch(/^payment: .* 3 too many \(\+\), 3 missing \(-\)/)
  const { mended, certificates } = await audit('all')
  expect(describeDifference(await index.tables(), expected)).toBe('')
  expect(mended).toEqual({ missing: 2, surplus: 1, changed: 3, unpaid: 0, contracts: 0 })
  const { paymentChecksum } = await tallyPaymentsWithin(pool, 'base', { fromBlock: 0, toBlock: 1_000_000 })
  const sums = { ...(await tally(null)), payment_checksum: String(paymentChecksum) }
  expect(certificates).toEqual([{ missing: 2, surplus: 1, changed: 3, ...sums }])
})

test('a code that nobody wrote is found at whatever is stored, whosever settlements are', async () => {
  const { pool } = index.database
  const known = await pool.query('select recipient from settlement order by recipient limit 1')
  await pool.query(`insert into known_recipient (chain, address, next_block, to_block) values ('base', $1, 1, 0)`, [
    known.rows[0].recipient,
  ])
  const expected = await index.tables()
  const strays = `insert into builder_code
    select distinct on (recipient) chain || '-' || block_number || '-' || log_index, chain, block_number, log_index, 'somebody',
           null, '{}'
      from settlement s
     where not exists (select from builder_code c
                        where (c.chain, c.block_number, c.log_index) = (s.chain, s.block_number, s.log_index))
     order by recipient, block_number, log_index`
  const wrong = (await pool.query(strays)).rowCount ?? 0
  expect(wrong).toBeGreaterThan(1)
  await pool.query(
    'delete from builder_code where id = (select min(id) from builder_code where facilitator is distinct from $1)',
    ['somebody'],
  )
  const { mended, certificates } = await audit('verified')
  expect(describeDifference(await index.tables(), expected)).toBe('')
  expect(mended).toEqual({ missing: 1, surplus: wrong, changed: 0, unpaid: 0, contracts: 0 })
  expect(certificates).toMatchObject([await tally([known.rows[0].recipient])])
  await pool.query('delete from known_recipient')
})

test('a range is not asked for beside it', async () => {
  const { code, stderr } = await run('--from', '3')
  expect(code).toBe(2)
  expect(stderr).toMatch(/--legs goes through all remaining blocks/)
})
