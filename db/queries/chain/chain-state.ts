import pg from 'pg'
import { lockClasses } from '../../lock-keys.ts'
import type { Queryable } from '../../pool.ts'

/** How far a chain is indexed. */
export interface ChainState {
  readonly chain: string
  readonly chainId: number
  readonly indexedBlock: number
  /** Timestamp of the newest indexed block; null: that block had nothing to read, or a reset went back to it. */
  readonly indexedAt: Date | null
  /** Finalized block: rows at or below it are never undone by a reorg. */
  readonly finalizedBlock: number
  /** Head of the source as last seen. */
  readonly headBlock: number
}

/** Undefined before the chain's first batch. */
export async function readChainState(db: Queryable, chain: string): Promise<ChainState | undefined> {
  const { rows } = await db.query<ChainState>({
    name: 'read-chain-state',
    text: `select chain, chain_id as "chainId", indexed_block as "indexedBlock", indexed_at as "indexedAt",
                  finalized_block as "finalizedBlock", head_block as "headBlock"
             from chain_state
            where chain = $1`,
    values: [chain],
  })
  return rows[0]
}

/** Stores the state, in the transaction that writes the rows of these blocks. */
export async function writeChainState(db: Queryable, state: ChainState): Promise<void> {
  await db.query(
    `insert into chain_state
            (chain, chain_id, indexed_block, indexed_at, finalized_block, head_block, updated_at)
     values ($1, $2, $3, $4, $5, $6, clock_timestamp())
         on conflict (chain) do update
        set chain_id = excluded.chain_id,
            indexed_block = excluded.indexed_block,
            indexed_at = excluded.indexed_at,
            finalized_block = excluded.finalized_block,
            head_block = excluded.head_block,
            updated_at = excluded.updated_at`,
    [state.chain, state.chainId, state.indexedBlock, state.indexedAt, state.finalizedBlock, state.headBlock],
  )
}

/** Whether the chain tables exist, that is, whether the database was migrated. */
export async function hasChainTables(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ present: boolean }>(`select to_regclass('chain_state') is not null as present`)
  return rows[0]?.present === true
}

/**
 * Locks the cursor in a processor's state schema until the transaction ends. Returns how often it has been moved;
 * undefined: there is none yet.
 */
export async function lockCursor(transaction: Queryable, schema: string): Promise<number | undefined> {
  const { rows } = await transaction.query<{ nonce: number }>(
    `select nonce from ${pg.escapeIdentifier(schema)}.status where id = 0 for update`,
  )
  return rows[0]?.nonce
}

/** Whether the chain's lock is this session's now. It ends with the connection, however that ends. */
export async function tryLockChain(session: Queryable, chainId: number): Promise<boolean> {
  const { rows } = await session.query<{ locked: boolean }>('select pg_try_advisory_lock($1, $2) as locked', [
    lockClasses.processor,
    chainId,
  ])
  return rows[0]?.locked === true
}

/** Backend process id of a session; the query also shows that the session is alive. Undefined: no answer. */
export async function readSessionId(session: Queryable): Promise<number | undefined> {
  const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid
}
