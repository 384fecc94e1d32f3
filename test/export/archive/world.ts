import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readChains } from '../../../config/chains.file.ts'
import type { BlockRange } from '../../../db/block-range.ts'
import { hourKey } from '../../../db/due/paid-hours.ts'
import { inTransaction } from '../../../db/pool.ts'
import { ensurePartitions } from '../../../db/queries/chain/partitions/settlement-partitions.ts'
import { refreshRankings } from '../../../db/queries/leaderboard/rankings.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import type { Archive } from '../../../export/archive/archive.ts'
import type { ServedManifest } from '../../../export/served/manifest.ts'
import { paceOf } from '../../../export/served/pace.ts'
import { serveRound } from '../../../export/served/round.ts'
import { tallyTable } from '../../../processors/backfill/verify.ts'
import { runIncome } from '../../derive/passes.ts'
import { createTestDatabase, type OwnDatabase, type TestDatabase } from '../../support/database.ts'
import { proofTerms } from '../../support/exports.ts'
import {
  addressOf,
  countSettlements,
  insert,
  seedAgent,
  seedChainState,
  seedHolding,
  seedPayment,
  seedRegistration,
  seedSettlement,
  seedWallet,
} from '../../support/seed.ts'

const { base } = readChains({ env: {} })
export const chain = base
const first = new Date('2019-03-01T00:00:00.000Z')
export const now = new Date('2019-09-01T00:00:00.000Z')
/** Day for `--before`: everything in the first two partitions is older. */
export const before = '2019-06-01'
/** Time of the first settlement behind the archived partitions, in the same hour as the last one in them. */
export const behind = new Date(first.getTime() + 66 * 3_600_000 + 600_000)

const own = addressOf('own')
export const wallet = addressOf('wallet')
const recipients = [own, wallet, addressOf('nobody')]
const shards = [
  { firstBlock: 30_000_000, lastBlock: 30_499_999 },
  { firstBlock: 30_500_000, lastBlock: 31_200_000 },
]
/** Block, and hours since `first`, of the settlements. */
const blocks: readonly (readonly [number, number])[] = [
  [29_000_000, -24],
  ...Array.from({ length: 12 }, (_, n) => [30_100_000 + n * 80_000, n * 6] as const),
  ...Array.from({ length: 6 }, (_, n) => [31_000_010 + n * 100_000, 66 + 1 / 6 + n * 6] as const),
]

/**
 * Two agents, paid at a verified address and at a wallet, in three partitions; a certificate reaches over a border. A
 * third was paid once, in blocks that will be archived, and not by a settlement.
 */
export async function archiveWorld(): Promise<OwnDatabase> {
  const database = await createTestDatabase()
  const { pool } = database
  await inTransaction(pool, (db) => ensurePartitions(db, 'base', 32_500_000))
  await seedAgent(pool, { fid: 1, addresses: [own], chains: ['base'] })
  await seedAgent(pool, { fid: 2, addresses: [addressOf('owner')], chains: ['base'] })
  await seedRegistration(pool, { chain: 'base', id: 7, owner: addressOf('owner'), wallet, at: new Date('2019-01-01') })
  await seedHolding(pool, { fid: 2, chain: 'base', id: 7, by: addressOf('owner'), at: new Date('2019-01-01') })
  await seedWallet(pool, { id: 7, wallet, block: 101, at: new Date('2019-01-01') })
  await seedAgent(pool, { fid: 3, addresses: [addressOf('seller')], chains: ['base'] })
  for (const fid of [1, 2, 3]) await insert(pool, 'agent_change', { fid, kind: 'upsert', changed_at: first })
  for (const [n, [block, hours]] of blocks.entries()) {
    for (const [at, recipient] of recipients.entries()) {
      await seedSettlement(pool, {
        chain: 'base',
        recipient,
        block,
        logIndex: at,
        payer: addressOf(`payer ${(n + at) % 4}`),
        amount: BigInt(1_000_000 + n * 10 + at),
        at: new Date(first.getTime() + hours * 3_600_000),
        selector: at === 2 ? '0xcf092995' : '0xe3ee160e',
      })
    }
  }
  const common = { payer: addressOf('payer 1'), block: 30_500_000, at: new Date(first.getTime() + 30 * 3_600_000) }
  await seedPayment(pool, { ...common, kind: 'permit2_exact', payee: own, amount: 5_000_000n, logIndex: 9 })
  await seedPayment(pool, {
    ...common,
    kind: 'permit2_exact',
    payee: addressOf('seller'),
    amount: 2_000_000n,
    logIndex: 10,
  })
  await seedChainState(pool, { chain: 'base', chainId: 8453, indexed: 31_990_000, finalized: 31_900_000, at: now })
  const { rows } = await pool.query<{ id: number }>(
    `insert into backfill (chain, from_block, to_block, completed_at) values ('base', $1, $2, now()) returning id`,
    [shards[0]?.firstBlock, shards.at(-1)?.lastBlock],
  )
  for (const { firstBlock, lastBlock } of shards) {
    const tally = await inTransaction(pool, (db) => tallyTable(db, 'base', { firstBlock, lastBlock }))
    await insert(pool, 'backfill_shard', {
      backfill_id: rows[0]?.id,
      first_block: firstBlock,
      last_block: lastBlock,
      next_block: lastBlock + 1,
      parent_hash: Buffer.alloc(32),
      first_hash: Buffer.alloc(32, firstBlock === 30_000_000 ? 1 : 2),
      last_hash: Buffer.alloc(32, 3),
      settlements: tally?.settlements,
      amount: String(tally?.amount),
      checksum: String(tally?.checksum),
    })
  }
  await sumUp(database)
  return database
}

async function sumUp({ pool }: TestDatabase): Promise<void> {
  while ((await rollUpSettlements({ pool })) + (await runIncome({ pool })) > 0);
  await countSettlements(pool, now)
  await refreshRankings({ pool, now: () => now, settlementOverloads: 'spec' })
}

/** Sums the income of every hour up again from the rows there are, and what is counted from sums. */
export async function recountAll(database: TestDatabase): Promise<void> {
  await database.pool.query(
    `insert into due (kind, key)
     select distinct 'income hours', ${hourKey('recipient', 'chain', 'hour')} from settlement_hourly`,
  )
  await sumUp(database)
}

const sums = [
  'settlement_hourly',
  'settlement_hour_total',
  'settlement_total',
  'settlement_payer',
  'facilitator_total',
  'income_hour',
  'income_total',
  'recipient_counts',
]

/** All rows of the tables derived from settlements, as JSON texts, by table. */
export async function sumsOf({ pool }: TestDatabase): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const table of sums) {
    const { rows } = await pool.query<{ row: string }>(`select to_jsonb(t)::text as row from ${table} t order by 1`)
    found[table] = rows.map(({ row }) => row)
  }
  return found
}

/** All settlements in order, as JSON texts without the id that only those of hot blocks have. */
export async function settlementsOf({ pool }: TestDatabase): Promise<string[]> {
  const text = `select (to_jsonb(s) - 'id')::text as row from settlement s order by block_number, log_index`
  return (await pool.query<{ row: string }>(text)).rows.map(({ row }) => row)
}

export function archiveOf(database: TestDatabase, folder: string, print: (line: string) => void = () => {}): Archive {
  return {
    pool: database.pool,
    databaseUrl: database.url,
    chain,
    folder,
    print,
    readAgain: () => {
      throw new Error('nothing reads the chain again')
    },
    serve: (untilDay, rewrite) => serve(database, folder, untilDay, rewrite),
  }
}

/** A request to the command, of what is older than `before`. */
export const task = (name: 'archive' | 'plan' | 'check' | 'restore') =>
  ({ task: name, before: `${before}T00:00:00.000Z` }) as const

/**
 * Runs a round of served files; `untilDay`: only of the chain's settlements up to that day; `rewrite`: blocks whose files
 * are written again in any case.
 */
export function serve(
  database: TestDatabase,
  folder: string,
  untilDay?: string,
  rewrite?: BlockRange,
): Promise<number> {
  const baseUrl = 'https://api.agents.example'
  return serveRound({
    pool: database.pool,
    folder,
    pace: paceOf(10_000_000),
    installation: { registries: {} as never, baseUrl },
    terms: proofTerms(baseUrl),
    now: () => now,
    tell: () => {},
    ...(untilDay !== undefined && { only: { chain: 'base', untilDay, rewrite } }),
  })
}

export const servedIn = async (folder: string): Promise<ServedManifest> =>
  JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'))
