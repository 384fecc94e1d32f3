import type pg from 'pg'
import { busiestChain } from '../../config/chains.ts'
import { inTransaction } from '../../db/pool.ts'
import { ensurePartitions } from '../../db/queries/chain/partitions/settlement-partitions.ts'
import { derivations } from '../../derive/derivations.ts'
import { settle } from '../../derive/pass.ts'
import { rollUpSettlements } from '../../enrichment/periodic/rollup.ts'
import { farmMakes, type Habit, honestHabits, type Make } from './habits.ts'
import { type FarmsHistory, historyMinutes } from './history.ts'

const begin = Date.parse('2026-01-01T00:00:00Z')
const rowsAtOnce = 10_000
const kinds = derivations.filter(({ kind }) => ['raters', 'circles', 'rater groups'].includes(kind))

/** Clients of one make or habit, and which of them are flagged. */
interface Measured {
  readonly kind: Make | Habit
  readonly clients: number
  readonly flagged: number
  /** Of the flagged ones, how many each rule flags. */
  readonly rules: Readonly<Record<string, number>>
}

interface FarmsReport {
  readonly farms: readonly (Measured & { readonly recall: number; readonly precision: number | null })[]
  readonly honest: readonly Measured[]
  /** Share of honest clients that are flagged. */
  readonly accused: number
}

/** Stores a history as processors would have, and rolls it up. */
export async function storeHistory(pool: pg.Pool, { paid, rated, holders }: FarmsHistory): Promise<void> {
  await inTransaction(pool, (db) => ensurePartitions(db, busiestChain, historyMinutes))
  const place = (minute: number, logIndex: number) => ({
    chain: busiestChain,
    block_number: minute,
    log_index: logIndex,
    block_timestamp: new Date(begin + minute * 60_000),
    tx_hash: bytes(`${minute.toString(16).padStart(32, '0')}${logIndex.toString(16).padStart(32, '0')}`),
  })
  const transfers = holders.map((holder, id) => ({
    ...place(0, id),
    id: `${busiestChain}-${id}`,
    agent_id: id,
    to: bytes(holder),
  }))
  await insertAll(pool, 'registration_transfer', transfers)
  const settlements = paid.map(({ payer, payee, minute, amount }, n) => ({
    ...place(minute + 1, n),
    amount,
    selector_source: 'c',
    selector: '\\xe3ee160e',
    token: '\\x01',
    payer: bytes(payer),
    recipient: bytes(payee),
    facilitator: '\\x02',
    payment_nonce: '\\x03',
  }))
  await insertAll(pool, 'settlement', settlements)
  const feedback = rated.map(({ client, agent, minute }, n) => ({
    ...place(minute + 1, paid.length + n),
    id: `${busiestChain}-${n}`,
    agent_id: agent,
    client: bytes(client),
    feedback_index: n,
    value: 100,
    value_decimals: 0,
    tag1: 'starred',
    tag2: '',
    endpoint: '',
    feedback_uri: '',
    feedback_hash: '\\x00',
  }))
  await insertAll(pool, 'feedback', feedback)
  await pool.query(
    `insert into chain_state (chain, chain_id, indexed_block, indexed_at, finalized_block, head_block, updated_at)
     values ('${busiestChain}', 1, $1, now(), $1, $1, now())
         on conflict (chain) do update set finalized_block = excluded.finalized_block, indexed_block = excluded.indexed_block`,
    [historyMinutes + 1],
  )
  while ((await rollUpSettlements({ pool })) > 0);
}

/** Derives who rates whom, as the job does. */
export function deriveRates(pool: pg.Pool): Promise<void> {
  return settle(kinds, { pool, now: () => new Date(), settlementOverloads: 'spec' })
}

/** Which clients are flagged, by what they are. */
export async function measureFlags(pool: pg.Pool, { clients }: FarmsHistory): Promise<FarmsReport> {
  const { rows } = await pool.query<{ client: string; rules: string[] }>(
    `select encode(client, 'hex') as client, array_agg(distinct rule order by rule) as rules from feedback_flag group by client`,
  )
  const flags = new Map(rows.map(({ client, rules }) => [client, rules]))
  const measured = <T extends Make | Habit>(kind: T) => {
    const own = [...clients].filter(([, of]) => of === kind).flatMap(([client]) => [flags.get(client) ?? []])
    const flagged = own.filter((rules) => rules.length > 0)
    const counts: Record<string, number> = {}
    for (const rule of flagged.flat()) counts[rule] = (counts[rule] ?? 0) + 1
    return { kind, clients: own.length, flagged: flagged.length, rules: counts }
  }
  const honest = honestHabits.map(measured)
  const accusedBy = (rule: string) => sum(honest.map(({ rules }) => rules[rule] ?? 0))
  const farms = farmMakes.map(measured).map((farm) => {
    const wrong = sum(Object.keys(farm.rules).map(accusedBy))
    const precision = farm.flagged === 0 ? null : farm.flagged / (farm.flagged + wrong)
    return { ...farm, recall: farm.flagged / farm.clients, precision }
  })
  return { farms, honest, accused: sum(honest.map(({ flagged }) => flagged)) / sum(honest.map((one) => one.clients)) }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)
const bytes = (hex: string) => `\\x${hex}`

async function insertAll(pool: pg.Pool, table: string, rows: readonly object[]): Promise<void> {
  const names = Object.keys(rows[0] ?? {})
    .map((name) => `"${name}"`)
    .join(', ')
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    await pool.query(
      `insert into ${table} (${names}) select ${names} from json_populate_recordset(null::${table}, $1::json)`,
      [JSON.stringify(rows.slice(at, at + rowsAtOnce))],
    )
  }
}
