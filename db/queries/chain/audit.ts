import type { BlockRange } from '../../block-range.ts'
import type { Queryable } from '../../pool.ts'
import { type MovedSettlement, movedColumns } from '../rollup/sums.ts'
import { arrayColumns, type StoredSettlement, settlementArrays, unnestSettlements } from './settlement-arrays.ts'

/** Blocks per certificate: certificates of adjacent blocks are merged up to each multiple of this. */
const blocksPerCertificate = 100_000

/** Time before blocks with disputed rows are audited again. */
const disputePause = `interval '1 hour'`

/** Records blocks as written from a node, and so due for an audit, in the transaction that writes their rows. */
export async function noteHeadRange(db: Queryable, chain: string, { fromBlock, toBlock }: BlockRange): Promise<void> {
  await db.query({
    name: 'note-head-range',
    text: `
with grown as (
  update head_range set to_block = $3
   where chain = $1 and from_block = (select max(from_block) from head_range where chain = $1 and from_block <= $2)
     and to_block >= $2 - 1 and retry_at is null
  returning 1
)
insert into head_range (chain, from_block, to_block, next_block)
select $1, $2::int, $3::int, $2::int where not exists (select from grown)
    on conflict do nothing`,
    values: [chain, fromBlock, toBlock],
  })
}

/**
 * The first blocks that are final, were written from a node, and are not audited; not while a backfill loads some.
 * Blocks with disputed rows come last, once their pause is over.
 */
export async function unauditedRange(db: Queryable, chain: string): Promise<BlockRange | undefined> {
  const { rows } = await db.query<BlockRange>({
    name: 'unaudited-range',
    text: `
select h.next_block as "fromBlock",
       least(h.to_block, s.finalized_block, (h.next_block / ${blocksPerCertificate} + 1)::bigint * ${blocksPerCertificate} - 1)::int as "toBlock"
  from head_range h join chain_state s using (chain)
 where chain = $1 and h.next_block <= least(h.to_block, s.finalized_block)
   and (h.retry_at is null or h.retry_at <= clock_timestamp())
   and not exists (select from backfill_partition p join backfill b on b.id = p.backfill_id
                    where b.chain = $1 and p.first_block <= h.to_block and p.last_block >= h.next_block)
   and not exists (select from backfill b
                    where b.chain = $1 and b.completed_at is null
                      and b.from_block <= h.to_block and b.to_block >= h.next_block)
 order by h.retry_at nulls first, h.from_block
 limit 1`,
    values: [chain],
  })
  return rows[0]
}

/** Puts off the audit of blocks that are next in their range, so that those above them are audited meanwhile. */
export async function putOffRange(db: Queryable, chain: string, { fromBlock, toBlock }: BlockRange): Promise<void> {
  await db.query({
    name: 'put-off-range',
    text: `
with whole as (
  select from_block, to_block from head_range where chain = $1 and next_block = $2 and to_block >= $3 for update
),
above as (
  insert into head_range (chain, from_block, to_block, next_block)
  select $1, $3::int + 1, to_block, $3::int + 1 from whole where to_block > $3
)
update head_range h set to_block = $3, retry_at = clock_timestamp() + ${disputePause}
  from whole w
 where h.chain = $1 and h.from_block = w.from_block`,
    values: [chain, fromBlock, toBlock],
  })
}

/** Number of blocks that wait for an audit, including those that are not final yet. */
export async function countUnaudited(db: Queryable, chain: string): Promise<number> {
  const { rows } = await db.query<{ blocks: number }>({
    name: 'count-unaudited',
    text: `select coalesce(sum(to_block + 1 - next_block), 0)::int as blocks from head_range where chain = $1`,
    values: [chain],
  })
  return rows[0]?.blocks ?? 0
}

/** Rows of a range that are compared with what they should be; parameters $1 to $3, and $4: those of known recipients. */
const audited = `s.chain = $1 and s.block_number between $2 and $3
   and not exists (select from backfill b where b.chain = $1 and s.block_number between b.from_block and b.to_block)
   and (not $4::boolean
        or exists (select from known_recipient k
                    where k.chain = $1 and k.address = s.recipient and k.ended_block is null
                      and (s.block_number > k.to_block or s.block_number < k.next_block)))`

/** Whether a row is not among those it should be among, value by value; parameters from $5 on. */
const isOther = `not exists (
     select from ${unnestSettlements(5)} as r (${arrayColumns()})
      where (${arrayColumns('r')}) = (${arrayColumns('s')}))`

/** The settlements that a range should have. */
interface ExpectedSettlements {
  readonly rows: readonly StoredSettlement[]
  /** Whether only settlements of known recipients are stored, so that only these are compared. */
  readonly known: boolean
}

const valuesOf = (chain: string, { fromBlock, toBlock }: BlockRange, { rows, known }: ExpectedSettlements) => [
  chain,
  fromBlock,
  toBlock,
  known,
  ...settlementArrays(rows),
]

/** A stored row that is not as the history source has it. */
export interface OtherRow {
  readonly blockNumber: number
  readonly logIndex: number
  /** Lowercase hex; null: the row does not tell. */
  readonly txHash: string | null
}

/** Settlements of a range that are not among these, value by value; those of a backfill are left out. */
export async function otherSettlements(
  db: Queryable,
  chain: string,
  range: BlockRange,
  expected: ExpectedSettlements,
): Promise<OtherRow[]> {
  const { rows } = await db.query<OtherRow>({
    name: 'other-settlements',
    text: `
select block_number as "blockNumber", log_index as "logIndex", '0x' || encode(tx_hash, 'hex') as "txHash"
  from settlement s
 where ${audited}
   and ${isOther}`,
    values: valuesOf(chain, range, expected),
  })
  return rows
}

/** Number of stored settlements in a range. */
export async function countSettlements(db: Queryable, chain: string, { fromBlock, toBlock }: BlockRange) {
  const { rows } = await db.query<{ rows: number }>({
    name: 'count-settlements-within',
    text: 'select count(*)::float8 as rows from settlement where chain = $1 and block_number between $2 and $3',
    values: [chain, fromBlock, toBlock],
  })
  return rows[0]?.rows ?? 0
}

/**
 * Deletes settlements in some blocks of a range that are not among these, value by value; those of a backfill are left
 * alone. Returns them with their keys.
 */
export async function deleteOthers(
  db: Queryable,
  chain: string,
  range: BlockRange,
  expected: ExpectedSettlements,
  blocks: readonly number[],
): Promise<(MovedSettlement & { readonly key: string })[]> {
  const deleted = await db.query<MovedSettlement & { key: string }>({
    name: 'delete-other-settlements',
    text: `
delete from settlement s
 where ${audited}
   and ${isOther}
   and s.block_number = any ($17::int[])
returning block_number || '-' || log_index as key, ${movedColumns}`,
    values: [...valuesOf(chain, range, expected), blocks],
  })
  return deleted.rows
}

/** Whether the stored settlements of a range equal the expected ones; those of a backfill are ignored. */
export async function areSettlements(
  db: Queryable,
  chain: string,
  range: BlockRange,
  expected: ExpectedSettlements,
): Promise<boolean> {
  const { rows } = await db.query<{ rows: number; others: number }>({
    name: 'are-settlements',
    text: `
select count(*)::int as rows, count(*) filter (where ${isOther})::int as others
  from settlement s
 where ${audited}`,
    values: valuesOf(chain, range, expected),
  })
  return rows[0]?.rows === expected.rows.length && rows[0].others === 0
}

/** Unpaid authorizations of a range as they are counted, in order. */
export async function readUnpaid(db: Queryable, chain: string, { fromBlock, toBlock }: BlockRange) {
  const { rows } = await db.query<{ blockNumber: number; token: string; count: number }>({
    name: 'read-unpaid',
    text: `select block_number as "blockNumber", '0x' || encode(token, 'hex') as token, count
             from unpaid_authorization where chain = $1 and block_number between $2 and $3
            order by block_number, token`,
    values: [chain, fromBlock, toBlock],
  })
  return rows
}

/** The result of an audit. */
interface AuditCertificate extends BlockRange {
  /** Lowercase hex. */
  readonly firstHash: string
  readonly lastHash: string
  readonly settlements: number
  readonly amount: bigint
  readonly checksum: bigint
  readonly payments: number
  readonly paymentChecksum: bigint
  readonly missing: number
  readonly surplus: number
  readonly changed: number
  readonly unpaid: number
  /** Number of events of the registries and the IdRegistry. */
  readonly events: number
  /** Registrations queued because their rows differ. */
  readonly agents: number
  /** Custody changes, and operators that owners named or took back, that were corrected. */
  readonly custody: number
  /** Kind of the source that was read: portal, archive. */
  readonly source: string
}

/** Stores a certificate, merged into the previous one where the blocks are adjacent. */
export async function writeAudit(db: Queryable, chain: string, audit: AuditCertificate): Promise<void> {
  await db.query({
    name: 'write-audit',
    text: `
with moved as (
  update head_range set next_block = $3::int + 1 where chain = $1 and next_block between $2::int and $3::int and from_block <= $2::int
),
grown as (
  update audit_certificate
     set to_block = $3, last_hash = decode(substr($5, 3), 'hex'), settlements = settlements + $6::bigint,
         amount = amount + $7::numeric, checksum = (checksum + $8::numeric) % 18446744073709551616,
         missing = missing + $9::int, surplus = surplus + $10::int, changed = changed + $11::int, unpaid = unpaid + $12::int,
         events = events + $13::int, agents = agents + $14::int, custody = custody + $15::int,
         source = $16::text, payments = payments + $17::bigint,
         payment_checksum = (payment_checksum + $18::numeric) % 18446744073709551616, audited_at = clock_timestamp()
   where chain = $1 and to_block = $2::int - 1 and from_block / ${blocksPerCertificate} = $2::int / ${blocksPerCertificate}
  returning 1
)
insert into audit_certificate (chain, from_block, to_block, first_hash, last_hash, settlements, amount, checksum, missing,
                               surplus, changed, unpaid, events, agents, custody, source, payments, payment_checksum)
select $1, $2::int, $3::int, decode(substr($4, 3), 'hex'), decode(substr($5, 3), 'hex'), $6::bigint, $7::numeric, $8::numeric,
       $9::int, $10::int, $11::int, $12::int, $13::int, $14::int, $15::int, $16::text, $17::bigint, $18::numeric
 where not exists (select from grown)
    on conflict (chain, from_block) do nothing`,
    values: [
      chain,
      audit.fromBlock,
      audit.toBlock,
      audit.firstHash,
      audit.lastHash,
      audit.settlements,
      String(audit.amount),
      String(audit.checksum),
      audit.missing,
      audit.surplus,
      audit.changed,
      audit.unpaid,
      audit.events,
      audit.agents,
      audit.custody,
      audit.source,
      audit.payments,
      String(audit.paymentChecksum),
    ],
  })
}

/** Blocks that were certified, and the totals of their settlements. */
interface CertifiedRange {
  readonly chain: string
  readonly by: 'backfill' | 'audit'
  readonly firstBlock: number
  /** Inclusive. */
  readonly lastBlock: number
  readonly settlements: number
  /** Digits of base units. */
  readonly amount: string
  /** Digits. */
  readonly checksum: string
}

/**
 * Certificates of backfills and audits, by chain and blocks. Audits of a chain that stores only settlements of known
 * recipients are left out: the contents of their blocks grow as recipients become known.
 */
export async function certifiedRanges(db: Queryable): Promise<CertifiedRange[]> {
  const { rows } = await db.query<CertifiedRange>({
    text: `
select b.chain, 'backfill' as by, s.first_block as "firstBlock", s.last_block as "lastBlock",
       s.settlements, s.amount::text, s.checksum::text
  from backfill b
  join backfill_shard s on s.backfill_id = b.id
 where b.completed_at is not null
 union all
select a.chain, 'audit', a.from_block, a.to_block, a.settlements, a.amount::text, a.checksum::text
  from audit_certificate a
 where not exists (select from settlement_scope s where s.chain = a.chain)
   and not exists (select from backfill b
                    where b.chain = a.chain and b.from_block <= a.to_block and b.to_block >= a.from_block)
 order by 1, 3, 2`,
  })
  return rows
}

/**
 * Deletes the records of written and audited blocks above a block, because their rows are deleted. Blocks at or below it
 * whose certificate reaches above it are due for an audit again.
 */
export async function deleteAuditsAbove(db: Queryable, chain: string, block: number): Promise<void> {
  await db.query('delete from head_range where chain = $1 and from_block > $2', [chain, block])
  // Above the block registrations are derived again; what is wrong below it stays wrong.
  if (block < 0) await db.query('delete from audit_agent where chain = $1', [chain])
  await db.query(
    `with gone as (delete from audit_certificate where chain = $1 and to_block > $2 returning from_block),
          cut as (select least(min(from_block), $2::int + 1) as from_block from gone)
     update head_range h
        set to_block = least(h.to_block, $2::int),
            next_block = least(h.next_block, greatest(h.from_block, c.from_block))
       from cut c
      where h.chain = $1 and h.to_block >= c.from_block - 1`,
    [chain, block],
  )
}
