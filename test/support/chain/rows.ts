import { createHash } from 'node:crypto'
import type { ChainName } from '../../../config/chains.ts'
import type { Queryable } from '../../../db/pool.ts'

export interface Token {
  readonly chain: ChainName
  readonly id: number | bigint
}

/** Writes rows as processors do: one Transfer per block, at the given time. */
export interface ChainRows {
  /** A Transfer as its processor stores it; `from` null: mint, `to` null: burn. Returns its block. */
  transfer(token: Token, from: string | null, to: string | null, at: Date): Promise<number>
  /** Leaves the rows as after a reorg that undoes the last Transfer of a token. */
  undo(token: Token): Promise<void>
  /** URIUpdated. */
  setUri(token: Token, uri: string, at: Date): Promise<void>
  /** A settlement of one base unit by transferWithAuthorization. */
  settle(chain: ChainName, recipient: string, at: Date, selector?: string): Promise<void>
}

export function chainRows(db: Queryable): ChainRows {
  let block = 1_000

  async function transfer({ chain, id }: Token, from: string | null, to: string | null, at: Date) {
    const number = ++block
    await db.query(
      `insert into registration_transfer
              (id, chain, agent_id, "from", "to", block_number, log_index, block_timestamp, tx_hash)
       values ($1, $2, $3, $4, $5, $6, 0, $7, $8)`,
      [`${chain}-${number}-0`, chain, String(id), bytes(from), bytes(to), number, at, hash('tx', number)],
    )
    await storeToken(db, { chain, id })
    return number
  }

  return {
    transfer,

    async undo({ chain, id }) {
      await db.query(
        `delete from registration_transfer
          where id = (select id from registration_transfer where chain = $1 and agent_id = $2
                       order by block_number desc limit 1)`,
        [chain, String(id)],
      )
      await storeToken(db, { chain, id })
    },

    async setUri({ chain, id }, uri, at) {
      await db.query(
        `update registration set agent_uri = $3, agent_uri_length = $4, updated_block = $5, updated_at = $6
          where chain = $1 and agent_id = $2`,
        [chain, String(id), uri, Buffer.byteLength(uri), ++block, at],
      )
    },

    async settle(chain, recipient, at, selector = 'e3ee160e') {
      const number = ++block
      await db.query(
        `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector,
                                 token, payer, recipient, facilitator, payment_nonce, tx_hash)
         values (1, $1, $2, 0, $3, 'c', $4, $5, $5, $6, $5, $7, $8)`,
        [
          at,
          number,
          chain,
          Buffer.from(selector, 'hex'),
          Buffer.alloc(20, 7),
          bytes(recipient),
          hash('nonce', number),
          hash('tx', number),
        ],
      )
    },
  }
}

/** Stores the registration that follows from the token's transfers, or removes it when there are none. */
async function storeToken(db: Queryable, { chain, id }: Token) {
  const key = [chain, String(id)]
  const { rows } = await db.query(
    'select * from registration_transfer where chain = $1 and agent_id = $2 order by block_number',
    key,
  )
  const mint = rows[0]
  const last = rows.at(-1)
  if (!last) {
    await db.query('delete from registration where chain = $1 and agent_id = $2', key)
    return
  }
  await db.query(
    `insert into registration (id, chain, agent_id, owner, burned, agent_uri, agent_uri_length, registered_block,
                               registered_at, registered_tx, acquired_block, acquired_at, updated_block, updated_at)
     values ($1 || '-' || $2, $1, $2::numeric, $3, $4, '', 0, $5, $6, $7, $8, $9, $8, $9)
         on conflict (id) do update
        set owner = excluded.owner, burned = excluded.burned, acquired_block = excluded.acquired_block,
            acquired_at = excluded.acquired_at, updated_block = excluded.updated_block,
            updated_at = excluded.updated_at`,
    [
      ...key,
      last.to,
      last.to === null,
      mint.block_number,
      mint.block_timestamp,
      mint.tx_hash,
      last.block_number,
      last.block_timestamp,
    ],
  )
}

/** An address with this number: lowercase hex. */
export function wallet(number: number): string {
  return `0x${number.toString(16).padStart(40, '0')}`
}

function bytes(address: string | null): Buffer | null {
  return address === null ? null : Buffer.from(address.slice(2), 'hex')
}

function hash(...parts: (string | number)[]): Buffer {
  return createHash('sha256').update(parts.join(':')).digest()
}
