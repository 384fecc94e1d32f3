import { lockClasses } from '../../lock-keys.ts'
import type { Queryable } from '../../pool.ts'
import { type MovedSettlement, movedColumns } from '../rollup/sums.ts'
import { arrayColumns, type StoredSettlement, settlementArrays, unnestSettlements } from './settlement-arrays.ts'

/** Progress of a chain for which only settlements of known recipients are stored. */
export interface SettlementScope {
  /** The last block up to which the settlements of every recipient are stored; -1: none. */
  readonly completeTo: number
  /** The first block from which the processor itself stores the settlements of known recipients. */
  readonly ownFrom: number
}

/** Prevents changes of the known recipients until the transaction ends; waits for one under way. Read them after it. */
export async function holdScope(db: Queryable, chainId: number): Promise<void> {
  await db.query('select pg_advisory_xact_lock_shared($1, $2)', [lockClasses.scope, chainId])
}

/** Prevents the chain's processor from writing settlements until the transaction ends; waits for a write under way. */
export async function lockScope(db: Queryable, chainId: number): Promise<void> {
  await db.query('select pg_advisory_xact_lock($1, $2)', [lockClasses.scope, chainId])
}

/** The chain's scope; undefined: the settlements of every recipient are stored. */
export async function readScope(db: Queryable, chain: string): Promise<SettlementScope | undefined> {
  const { rows } = await db.query<SettlementScope>(
    'select complete_to as "completeTo", own_from as "ownFrom" from settlement_scope where chain = $1',
    [chain],
  )
  return rows[0]
}

export async function insertScope(db: Queryable, chain: string, scope: SettlementScope): Promise<void> {
  await db.query('insert into settlement_scope (chain, complete_to, own_from) values ($1, $2, $3)', [
    chain,
    scope.completeTo,
    scope.ownFrom,
  ])
}

/** Deletes a chain's scope and its known recipients. */
export async function deleteScope(db: Queryable, chain: string): Promise<void> {
  await db.query(
    `with gone as (delete from known_recipient where chain = $1)
     delete from settlement_scope where chain = $1`,
    [chain],
  )
}

/** Moves the scope's cursors back to a block: what is stored above it is not, or not all, what recipients should have. */
export async function clipScope(db: Queryable, chain: string, block: number): Promise<void> {
  await db.query(
    `with clipped as (
       update known_recipient r
          set next_block = least(next_block, $2 + 1), to_block = least(to_block, greatest($2, s.own_from - 1)),
              ended_block = least(ended_block, $2)
         from settlement_scope s
        where s.chain = $1 and r.chain = $1 and (r.next_block > $2 or r.to_block > $2 or r.ended_block > $2)
     )
     update settlement_scope set complete_to = least(complete_to, $2) where chain = $1`,
    [chain, block],
  )
}

/** Those of the addresses that are known recipients of a chain. */
export async function knownRecipients(db: Queryable, chain: string, addresses: readonly Buffer[]): Promise<Buffer[]> {
  const { rows } = await db.query<{ address: Buffer }>({
    name: 'known-recipients',
    text: `select address from known_recipient
            where chain = $1 and address = any ($2::bytea[]) and ended_block is null`,
    values: [chain, addresses],
  })
  return rows.map(({ address }) => address)
}

/** Known recipients of a chain from a list of addresses, with the blocks that are not read for them yet: those from `nextBlock` to `toBlock`. */
export async function knownRecipientsWithGaps(
  db: Queryable,
  chain: string,
  addresses: readonly Buffer[],
): Promise<WaitingRecipient[]> {
  const { rows } = await db.query<WaitingRecipient>({
    name: 'known-recipients-with-gaps',
    text: `select address, next_block as "nextBlock", to_block as "toBlock" from known_recipient
            where chain = $1 and address = any ($2::bytea[]) and ended_block is null`,
    values: [chain, addresses],
  })
  return rows
}

/**
 * Live addresses of accounts that are listed or claimed, or that hold or held a registration: some ten thousand. All that
 * the network verifies would be a hundred times as many, and more to read than the settlements of everybody.
 */
const knownAddresses = `
  select distinct v.address
    from verified_address v
   where v.ended_at is null
     and v.fid in (select fid from agent
                    union select fid from claim
                    union select held.fid from registration_transfer t join verified_address held on held.address = t."to")`

/** Digest of the set of addresses that should be known recipients; it changes when the set does. */
export async function recipientsDigest(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ digest: string }>({
    name: 'recipients-digest',
    text: `select count(*) || ' ' || coalesce(bit_xor(hashbyteaextended(address, 0)), 0) as digest
             from (${knownAddresses}) known`,
  })
  return rows[0]?.digest ?? ''
}

/**
 * Makes every live address of an account in the directory a known recipient, whose settlements up to `toBlock` have to be loaded:
 * from `fromBlock` on, or from where they were there when it stopped being one. Call under `lockScope`.
 */
export async function addRecipients(
  db: Queryable,
  chain: string,
  { fromBlock, toBlock }: { fromBlock: number; toBlock: number },
): Promise<number> {
  const { rowCount } = await db.query(
    `insert into known_recipient as r (chain, address, next_block, to_block)
     select $1, known.address, $2::int, $3::int
       from (${knownAddresses}) known
      where not exists (select from known_recipient k
                         where k.chain = $1 and k.address = known.address and k.ended_block is null)
         on conflict (chain, address) do update
        set next_block = case when r.next_block > r.to_block then greatest(r.to_block, r.ended_block) + 1
                              else r.next_block end,
            to_block = excluded.to_block,
            ended_block = null
      where r.ended_block is not null`,
    [chain, fromBlock, toBlock],
  )
  return rowCount ?? 0
}

/**
 * Ends the recipients that are no longer an address of an account in the directory: blocks up to `finalBlock`, which are not written again,
 * have theirs. Call under `lockScope`.
 */
export async function endRecipients(db: Queryable, chain: string, finalBlock: number): Promise<number> {
  const { rowCount } = await db.query(
    `update known_recipient r set ended_block = $2
      where r.chain = $1 and r.ended_block is null
        and r.address not in (${knownAddresses})`,
    [chain, finalBlock],
  )
  return rowCount ?? 0
}

/** A known recipient with settlements that are not loaded yet: those of blocks `nextBlock` to `toBlock`. */
interface WaitingRecipient {
  readonly address: Buffer
  readonly nextBlock: number
  readonly toBlock: number
}

/**
 * Recipients that wait at the same block, `limit` at most: the block that is furthest, so that what is begun is ended
 * before something else begins. `finalBlock`: the last one that can be loaded now. A rest that goes beyond it and has
 * not more than `tail` blocks before it waits until all of it is final.
 */
export async function waitingRecipients(
  db: Queryable,
  chain: string,
  { finalBlock, tail, limit }: { finalBlock: number; tail: number; limit: number },
): Promise<WaitingRecipient[]> {
  const { rows } = await db.query<WaitingRecipient>({
    name: 'waiting-recipients',
    text: `
with ready as (
  select address, next_block, to_block from known_recipient
   where chain = $1 and ended_block is null and next_block <= to_block and next_block <= $2
     and (to_block <= $2 or next_block::bigint + $3 <= $2)
)
select address, next_block as "nextBlock", to_block as "toBlock" from ready
 where next_block = (select max(next_block) from ready)
 order by address
 limit $4`,
    values: [chain, finalBlock, tail, limit],
  })
  return rows
}

/**
 * Moves the cursors of these recipients to `nextBlock`, in the transaction that adds the rows. Returns those whose
 * cursor still was at `fromBlock`; the others were moved by somebody else.
 */
export async function moveRecipients(
  db: Queryable,
  chain: string,
  { addresses, fromBlock, nextBlock }: { addresses: readonly Buffer[]; fromBlock: number; nextBlock: number },
): Promise<Buffer[]> {
  const { rows } = await db.query<{ address: Buffer }>({
    name: 'move-recipients',
    text: `update known_recipient set next_block = $4
            where chain = $1 and address = any ($2::bytea[]) and next_block = $3 and ended_block is null
        returning address`,
    values: [chain, addresses, fromBlock, nextBlock],
  })
  return rows.map(({ address }) => address)
}

/**
 * The last block that the processor or a load by recipient counts as read, where only known recipients are kept; -1:
 * none.
 */
export async function lastScopedBlock(db: Queryable, chain: string): Promise<number> {
  const { rows } = await db.query<{ block: number }>(
    `select greatest(max(complete_to), max(own_from) - 1,
                     (select max(next_block) - 1 from known_recipient where chain = $1), -1)::int as block
       from settlement_scope where chain = $1`,
    [chain],
  )
  return rows[0]?.block ?? -1
}

/** Backlog of a chain: what is left to load for recipients that became known. */
export async function scopeBacklog(
  db: Queryable,
  chain: string,
): Promise<{ readonly recipients: number; readonly blocks: number }> {
  const { rows } = await db.query<{ recipients: number; blocks: number }>({
    name: 'scope-backlog',
    text: `
select count(*)::int as recipients, coalesce(max(to_block - next_block + 1), 0)::int as blocks
  from known_recipient
 where chain = $1 and ended_block is null and next_block <= to_block`,
    values: [chain],
  })
  return rows[0] ?? { recipients: 0, blocks: 0 }
}

/** Inserts settlements of final blocks that are not stored yet. Returns those that it inserted. */
export async function addSettlements(
  db: Queryable,
  chain: string,
  rows: readonly StoredSettlement[],
): Promise<MovedSettlement[]> {
  const added = await db.query<MovedSettlement>({
    name: 'add-settlements',
    text: `
insert into settlement (chain, ${arrayColumns()})
select $1, * from ${unnestSettlements(2)}
    on conflict do nothing
returning ${movedColumns}`,
    values: [chain, ...settlementArrays(rows)],
  })
  return added.rows
}
