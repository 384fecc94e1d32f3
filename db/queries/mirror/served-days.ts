import type { Queryable } from '../../pool.ts'
import { settlementStarts } from '../read/settlement-starts.ts'

/** The facts of a chain of one UTC day, all of them final. */
export interface FactDay {
  readonly chain: string
  /** `2026-11-21` */
  readonly day: string
  readonly rows: number
  /** Another one when rows have changed although there are as many. */
  readonly state: string
}

/** Blocks, both ends inclusive. */
export interface BlockRange {
  readonly fromBlock: number
  readonly toBlock: number
}

interface FactSet {
  /** Days that are over and have rows, by chain and day. */
  readonly days: (db: Queryable) => Promise<FactDay[]>
  /** Blocks of a day's rows; undefined: some of them are not counted yet. */
  readonly range: (db: Queryable, day: Pick<FactDay, 'chain' | 'day'>) => Promise<BlockRange | undefined>
  /** Column of a certificate that counts such rows. */
  readonly mended: 'changed' | 'events'
}

/** How long after its end a day is taken to be final where nothing later says so. */
const finalAfter = `interval '6 hours'`
const dayText = (time: string) => `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD')`

/** Datasets of facts, which are written by chain and day. */
export const factSets = {
  settlements: { days: settlementDays, range: settlementRange, mended: 'changed' },
  feedback: { days: feedbackDays, range: feedbackRange, mended: 'events' },
} as const satisfies Record<string, FactSet>

/** The sums of rolled up hours, which are of final blocks, tell whether a backfill or an audit reached into a day. */
async function settlementDays(db: Queryable): Promise<FactDay[]> {
  const { rows } = await db.query<FactDay>({
    name: 'served-settlement-days',
    text: `
with reached as (
  select chain, greatest(max(hour), (select indexed_at - ${finalAfter} from chain_state s where s.chain = t.chain)) as at
    from settlement_hour_total t
   where n > 0
   group by chain
)
select chain, ${dayText('day')} as day, n as rows, amount::text as state
  from (select chain, date_trunc('day', hour, 'UTC') as day, sum(n)::bigint as n, sum(amount) as amount
          from settlement_hour_total group by 1, 2) summed
  join reached using (chain)
 where n > 0 and day + interval '1 day' <= reached.at
 order by chain, day`,
  })
  return rows
}

async function settlementRange(
  db: Queryable,
  { chain, day }: Pick<FactDay, 'chain' | 'day'>,
): Promise<BlockRange | undefined> {
  const next = new Date(Date.parse(day) + 86_400_000).toISOString()
  const [first] = await settlementStarts(db, { chains: [chain], since: day })
  const [beyond] = await settlementStarts(db, { chains: [chain], since: next })
  if (!first || !beyond) return undefined
  const range = { fromBlock: first.block, toBlock: beyond.block - 1 }
  const { rowCount } = await db.query({
    name: 'served-unrolled',
    text: 'select from settlement_unrolled where chain = $1 and from_block <= $3 and to_block >= $2 limit 1',
    values: [chain, range.fromBlock, range.toBlock],
  })
  return rowCount ? undefined : range
}

async function feedbackDays(db: Queryable): Promise<FactDay[]> {
  const { rows } = await db.query<FactDay>({
    name: 'served-feedback-days',
    text: `
select chain, ${dayText('day')} as day, n as rows, revoked::text as state
  from (select f.chain, date_trunc('day', f.block_timestamp, 'UTC') as day, count(*) as n, count(f.revoked_at) as revoked
          from feedback f
          join chain_state c on c.chain = f.chain and f.block_number <= c.finalized_block
         group by 1, 2) given
  join chain_state using (chain)
 where day + interval '1 day' <= indexed_at - ${finalAfter}
 order by chain, day`,
  })
  return rows
}

async function feedbackRange(
  db: Queryable,
  { chain, day }: Pick<FactDay, 'chain' | 'day'>,
): Promise<BlockRange | undefined> {
  const { rows } = await db.query<{ fromBlock: number | null; toBlock: number | null }>({
    name: 'served-feedback-range',
    text: `
select min(f.block_number) as "fromBlock", max(f.block_number) as "toBlock"
  from feedback f
  join chain_state c on c.chain = f.chain and f.block_number <= c.finalized_block
 where f.chain = $1 and date_trunc('day', f.block_timestamp, 'UTC') = $2::timestamptz`,
    values: [chain, `${day}T00:00:00Z`],
  })
  const { fromBlock = null, toBlock = null } = rows[0] ?? {}
  return fromBlock === null || toBlock === null ? undefined : { fromBlock, toBlock }
}

/** Whether an audit mended rows of these blocks after a time, which their number and sums need not show. */
export async function auditedSince(
  db: Queryable,
  name: keyof typeof factSets,
  files: readonly (BlockRange & { readonly chain: string; readonly writtenAt: string })[],
): Promise<boolean[]> {
  const { rows } = await db.query<{ changed: boolean }>({
    name: `served-audited-${name}`,
    text: `
select exists (select from audit_certificate a
                where a.chain = f.chain and a.${factSets[name].mended} > 0 and a.audited_at > f.written_at
                  and a.from_block <= f.to_block and a.to_block >= f.from_block) as changed
  from unnest($1::text[], $2::int[], $3::int[], $4::timestamptz[]) with ordinality
       as f (chain, from_block, to_block, written_at, place)
 order by f.place`,
    values: [
      files.map(({ chain }) => chain),
      files.map(({ fromBlock }) => fromBlock),
      files.map(({ toBlock }) => toBlock),
      files.map(({ writtenAt }) => writtenAt),
    ],
  })
  return rows.map(({ changed }) => changed)
}
