import type { ChainSettings } from '../../../config/chains.file.ts'
import { firstPaidBlock } from '../../../config/chains.row.ts'
import { chainNames, chainOf } from '../../../config/chains.ts'
import type { Queryable } from '../../pool.ts'
import { isoTime } from '../sql/json-text.ts'

/** A chain, and the first block in which a settlement can be; null: it has none. */
interface CoveredChain {
  readonly name: string
  readonly id: number
  readonly firstBlock: number | null
}

interface State {
  readonly chain: string
  readonly indexed_block: number
  readonly indexed_at: string | null
  readonly finalized_block: number
  readonly head_block: number
}

interface Backfill {
  readonly chain: string
  readonly from_block: number
  readonly to_block: number
  readonly isLoaded: boolean
  /** The blocks that are not, together with those between them; null when all are loaded. */
  readonly missing_from: number | null
  readonly missing_to: number | null
}

/** A range of blocks whose settlements are indexed, loaded, being loaded, or archived. */
interface CoveredRange {
  readonly from_block: number
  /** Inclusive. */
  readonly to_block: number
  readonly by: 'processor' | 'backfill'
  /** `loading`: reserved, and not all of it is loaded; `archived`: taken out of the database. */
  readonly state: 'indexed' | 'loaded' | 'loading' | 'archived'
}

interface Gap {
  readonly from_block: number
  /** Last block, inclusive; null: the gap is open-ended. */
  readonly to_block: number | null
  /** Command that closes the gap. */
  readonly command: string
}

/** Totals of blocks, for comparison with another index or source. */
interface Certificate {
  readonly by: 'backfill' | 'audit'
  readonly from_block: number
  readonly to_block: number
  readonly settlements: number
  /** Digits of base units. */
  readonly amount: string
  /** Sum modulo 2^64 over the blocks of the first eight bytes of the SHA-256 of their rows; 16 hex digits. */
  readonly checksum: string
  /** What forwarders passed on and other contracts settled, and the sum of the first eight bytes of the SHA-256 of each. */
  readonly payments: number
  readonly payment_checksum: string
  readonly first_hash: string
  readonly last_hash: string
  /** Kinds: portal, archive, rpc. */
  readonly sources: string[]
  readonly certified_at: string
  /** Settlements that an audit found missing, surplus or changed, and mended; null for a backfill. */
  readonly mended: number | null
}

export type ChainCoverage = Awaited<ReturnType<typeof readCoverage>>['chains'][number]

/** What is indexed of each chain and by whom, and what proves it; of each list the last `limit` members. */
export async function readCoverage(
  db: Queryable,
  settings: Readonly<Record<string, Pick<ChainSettings, 'tokens' | 'paymentContracts'> | undefined>>,
  limit: number,
) {
  const chains = chainNames.map((name): CoveredChain => {
    const chain = settings[name]
    return { name, id: chainOf(name).id, firstBlock: chain ? firstPaidBlock(chain) : null }
  })
  const names = chains.map(({ name }) => name)
  const states = await readStates(db)
  const backfills = await readBackfills(db)
  const certificates = await readCertificates(db, names, limit)
  const counts = await readCounts(db, names)
  const archived = await readArchivedBlocks(db)
  return {
    count: chains.length,
    chains: chains.map((chain) => {
      const of = <T extends { readonly chain: string }>(rows: readonly T[]) =>
        rows.filter((row) => row.chain === chain.name)
      const state = of(states)[0]
      const { ranges: covered, gaps } = rangesOf(chain, state, of(backfills))
      const ranges = covered.flatMap((range) => splitAt(range, archived.get(chain.name) ?? -1))
      const { audited, unaudited, isScoped, total } = of(counts)[0] as Counts
      return {
        chain: chain.name,
        chain_id: chain.id,
        first_block: chain.firstBlock,
        indexed_block: state?.indexed_block ?? null,
        indexed_at: state?.indexed_at ?? null,
        finalized_block: state?.finalized_block ?? null,
        head_block: state?.head_block ?? null,
        /** Whose settlements are stored. */
        recipients: isScoped ? ('verified' as const) : ('all' as const),
        ranges: ranges.slice(-limit),
        ranges_total: ranges.length,
        gaps: gaps.slice(-limit),
        gaps_total: gaps.length,
        /** Blocks that were written from a node and read again since, and those that wait for it. */
        audited_blocks: audited,
        unaudited_blocks: unaudited,
        /** The newest blocks last. */
        certificates: of(certificates).map(({ chain: _, ...certificate }) => certificate),
        certificates_total: total,
      }
    }),
  }
}

/** A processor indexes every block up to its newest one that no backfill has reserved. */
function rangesOf({ name, firstBlock }: CoveredChain, state: State | undefined, backfills: readonly Backfill[]) {
  const ranges: CoveredRange[] = []
  const gaps: Gap[] = []
  if (firstBlock === null) return { ranges, gaps }
  const follow = `npm run processor -- ${name}`
  const indexed = state?.indexed_block ?? -1
  let next = firstBlock
  const between = (end: number) => {
    const last = Math.min(end, indexed)
    if (next <= last) ranges.push({ from_block: next, to_block: last, by: 'processor', state: 'indexed' })
    const from = Math.max(next, indexed + 1)
    if (from > end) return
    const load = `npm run backfill -- --chain ${name} --from ${from} --to ${end}`
    gaps.push({ from_block: from, to_block: end, command: state ? follow : load })
  }
  for (const { from_block, to_block, isLoaded, missing_from, missing_to } of backfills) {
    between(from_block - 1)
    ranges.push({ from_block, to_block, by: 'backfill', state: isLoaded ? 'loaded' : 'loading' })
    if (!isLoaded) {
      const command = `npm run backfill -- --chain ${name} --from ${from_block} --to ${to_block}`
      gaps.push({ from_block: missing_from ?? from_block, to_block: missing_to ?? to_block, command })
    }
    next = Math.max(next, to_block + 1)
  }
  if (state) between(Math.max(state.head_block, indexed))
  else gaps.push({ from_block: next, to_block: null, command: follow })
  return { ranges, gaps }
}

/** What of a range is archived, and what is still there. */
function splitAt(range: CoveredRange, archivedTo: number): CoveredRange[] {
  const { from_block, to_block } = range
  if (range.state === 'loading' || archivedTo < from_block) return [range]
  const gone: CoveredRange = { ...range, to_block: Math.min(to_block, archivedTo), state: 'archived' }
  return archivedTo < to_block ? [gone, { ...range, from_block: archivedTo + 1 }] : [gone]
}

async function readArchivedBlocks(db: Queryable): Promise<Map<string, number>> {
  const { rows } = await db.query<{ chain: string; to_block: number }>({
    name: 'covered-archives',
    text: 'select chain, to_block from settlement_archived',
  })
  return new Map(rows.map(({ chain, to_block }) => [chain, to_block]))
}

async function readStates(db: Queryable): Promise<State[]> {
  const { rows } = await db.query<State>({
    name: 'covered-states',
    text: `
select chain, indexed_block, ${isoTime('indexed_at')} as indexed_at, finalized_block, head_block from chain_state`,
  })
  return rows
}

/** All backfills, without a limit: there are only those that an operator asked for. */
async function readBackfills(db: Queryable): Promise<Backfill[]> {
  const { rows } = await db.query<Backfill>({
    name: 'covered-backfills',
    text: `
select b.chain, b.from_block, b.to_block, b.completed_at is not null as "isLoaded",
       min(s.next_block) filter (where s.next_block <= s.last_block) as missing_from,
       max(s.last_block) filter (where s.next_block <= s.last_block) as missing_to
  from backfill b
  left join backfill_shard s on s.backfill_id = b.id
 group by b.id
 order by b.chain, b.from_block`,
  })
  return rows
}

interface Counts {
  readonly chain: string
  readonly audited: number
  readonly unaudited: number
  readonly isScoped: boolean
  readonly total: number
}

async function readCounts(db: Queryable, names: readonly string[]): Promise<Counts[]> {
  const { rows } = await db.query<Counts>({
    name: 'coverage-counts',
    text: `
select chain,
       (select coalesce(sum(next_block - from_block), 0)::float8 from head_range h where h.chain = c.chain) as audited,
       (select coalesce(sum(to_block + 1 - next_block), 0)::float8 from head_range h where h.chain = c.chain) as unaudited,
       exists (select from settlement_scope s where s.chain = c.chain) as "isScoped",
       ((select count(*) from audit_certificate a where a.chain = c.chain)
        + (select count(*) from backfill b where b.chain = c.chain and b.completed_at is not null))::float8 as total
  from unnest($1::text[]) as c (chain)`,
    values: [names],
  })
  return rows
}

/** Of each chain those of the newest blocks, ascending. */
async function readCertificates(db: Queryable, names: readonly string[], limit: number) {
  const { rows } = await db.query<Certificate & { readonly chain: string }>({
    name: 'coverage-certificates',
    text: `
select c.chain, one.by, one.from_block, one.to_block, one.settlements::float8 as settlements, one.amount::text as amount,
       ${hexSum('one.checksum')} as checksum, one.payments::float8 as payments,
       ${hexSum('one.payment_checksum')} as payment_checksum,
       '0x' || encode(one.first_hash, 'hex') as first_hash, '0x' || encode(one.last_hash, 'hex') as last_hash,
       one.sources, ${isoTime('one.certified_at')} as certified_at, one.mended
  from unnest($1::text[]) as c (chain)
 cross join lateral (
   (select 'backfill' as by, b.from_block, b.to_block, loaded.settlements, loaded.amount, loaded.checksum,
           loaded.payments, loaded.payment_checksum, loaded.first_hash, loaded.last_hash,
           case when loaded.confirmed and not b.sources @> array['rpc'] then b.sources || 'rpc'::text else b.sources end as sources, b.completed_at as certified_at, null::int as mended
      from backfill b
     cross join lateral (${loadedByShards}
     ) loaded
     where b.chain = c.chain and b.completed_at is not null
     order by b.from_block desc
     limit $2)
    union all
   (select 'audit', a.from_block, a.to_block, a.settlements, a.amount, a.checksum, a.payments, a.payment_checksum, a.first_hash, a.last_hash,
           array_remove(array[a.source, case when a.missing + a.surplus + a.changed = 0 then 'rpc' end], null), a.audited_at, a.missing + a.surplus + a.changed
      from audit_certificate a
     where a.chain = c.chain
     order by a.from_block desc
     limit $2)
    order by from_block desc, by
    limit $2
 ) one
 order by c.chain, one.from_block, one.by`,
    values: [names, limit],
  })
  return rows
}

// What certificates say of blocks: of backfills, whose shards add up, and of audits.

/** A sum modulo 2^64 as sixteen hex digits: a bigint has a sign, which the sum has not. */
export const hexSum = (sum: string) =>
  `lpad(to_hex((${sum} - case when ${sum} >= 9223372036854775808 then 18446744073709551616 else 0 end)::bigint), 16, '0')`

/** SQL: what the shards of a backfill `b` come to. */
export const loadedByShards = `
       select sum(s.settlements) as settlements, sum(s.amount) as amount,
              sum(s.checksum) % 18446744073709551616 as checksum,
              sum(s.payments) as payments,
              sum(s.payment_checksum) % 18446744073709551616 as payment_checksum,
              (array_agg(s.first_hash order by s.first_block))[1] as first_hash,
              (array_agg(s.last_hash order by s.first_block desc))[1] as last_hash,
              bool_and(s.confirmed) as confirmed
         from backfill_shard s where s.backfill_id = b.id`
