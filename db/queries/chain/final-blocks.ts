import type { Queryable } from '../../pool.ts'

/** A block whose rows will not be undone; `hash` is lowercase hex. */
export interface StoredBlock {
  readonly height: number
  readonly hash: string
}

/** Final blocks stored per chain one by one, the newest; and blocks of which one is kept before these. */
const mostKept = 10_000
const stride = 20_000

/**
 * Stores a final block. Of those beyond the newest `mostKept` the lowest of each `stride` blocks stays, because a chain
 * with four blocks a second is through with the others within the hour. Does nothing when its height is stored already.
 */
export async function noteFinalBlock(db: Queryable, chain: string, { height, hash }: StoredBlock): Promise<void> {
  await db.query({
    name: 'note-final-block',
    text: `
with oldest as (
  select height from final_block where chain = $1 order by height desc offset $4 limit 1
),
forgotten as (
  delete from final_block f
   using oldest o
   where f.chain = $1 and f.height between o.height - ${stride} and o.height
     and exists (select from final_block other
                  where other.chain = $1 and other.height between f.height - f.height % ${stride} and f.height - 1)
)
insert into final_block (chain, height, hash) values ($1, $2, $3) on conflict do nothing`,
    values: [chain, height, hash, mostKept - 1],
  })
}

/**
 * Clears the ids of settlements in blocks above `above` up to `final`, which became final: ids only serve to undo hot
 * blocks.
 */
export async function dropHotIds(db: Queryable, chain: string, above: number, final: number): Promise<void> {
  await db.query({
    name: 'drop-hot-ids',
    text: `update settlement set id = null
            where chain = $1 and block_number > $2 and block_number <= $3 and id is not null`,
    values: [chain, above, final],
  })
}

/** The stored final blocks of a chain, newest first. */
export async function readFinalBlocks(db: Queryable, chain: string): Promise<StoredBlock[]> {
  const { rows } = await db.query<StoredBlock>(
    'select height, hash from final_block where chain = $1 order by height desc',
    [chain],
  )
  return rows
}
