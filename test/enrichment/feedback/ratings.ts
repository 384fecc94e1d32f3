import { beforeEach } from 'vitest'
import { derivations } from '../../../derive/derivations.ts'
import { settle } from '../../../derive/pass.ts'
import type { testDatabase } from '../../support/database.ts'
import { addressOf, birth, insert } from '../../support/seed.ts'

// Who rated whom, and who paid, in rows of a minute each; what is told of clients by their names.

type Database = ReturnType<typeof testDatabase>

export const kinds = derivations.filter(({ kind }) => ['raters', 'circles', 'rater groups'].includes(kind))
export const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
export const time = (block: number) => new Date(birth.getTime() + block * 60_000)
export const names = (prefix: string, many: number) => Array.from({ length: many }, (_, n) => `${prefix} ${n}`)

/** What tests of one database write and ask; each begins without any of it. */
export function ratings(database: Database) {
  const context = () =>
    ({ pool: database.pool, now: () => new Date(birth.getTime() + 86_400_000), settlementOverloads: 'spec' }) as const
  beforeEach(async () => {
    await database.pool.query(`
      truncate feedback, registration_transfer, registration_wallet, settlement_payer, payment_sum, feedback_client, feedback_edge,
               circle_reach, feedback_group, settlement_scope, income_ring, verified_address, due`)
  })
  return {
    context,
    derive: () => settle(kinds, context()),
    mint: (id: number, holder: string, block = 0) => mint(database, id, holder, block),
    rate: (client: string, id: number, block: number) => rate(database, client, id, block),
    pay: (payer: string, recipient: string, block: number, amount = 1_000) =>
      pay(database, payer, recipient, block, amount),
    flags: (client: string) => flags(database, client),
  }
}

async function mint(database: Database, id: number, holder: string, block: number) {
  await insert(database.pool, 'registration_transfer', {
    id: `base-${id}-${block}`,
    chain: 'base',
    agent_id: id,
    from: null,
    to: bytes(addressOf(holder)),
    block_number: block,
    log_index: id,
    block_timestamp: time(block),
    tx_hash: Buffer.alloc(32),
  })
}

async function rate(database: Database, client: string, id: number, block: number) {
  await insert(database.pool, 'feedback', {
    id: `base-${client}-${id}-${block}`,
    chain: 'base',
    agent_id: id,
    client: bytes(addressOf(client)),
    feedback_index: block,
    value: 1,
    value_decimals: 0,
    tag1: '',
    tag2: '',
    endpoint: '',
    feedback_uri: '',
    feedback_hash: Buffer.alloc(32),
    block_number: block,
    log_index: 0,
    block_timestamp: time(block),
    tx_hash: Buffer.alloc(32),
  })
}

/** A sum by payer and payee as the roll-up leaves it. */
async function pay(database: Database, payer: string, recipient: string, block: number, amount: number) {
  await database.pool.query(
    `insert into settlement_payer as s (recipient, payer, chain, overload, last_at, n, amount, first_at, first_paid_at)
     values ($1, $2, 'base', false, $3, 1, $4::numeric, $3, case when $4::numeric > 0 then $3::timestamptz end)
         on conflict (recipient, payer, chain, overload) do update
        set first_at = least(s.first_at, excluded.first_at), first_paid_at = least(s.first_paid_at, excluded.first_paid_at),
            n = s.n + 1, amount = s.amount + excluded.amount`,
    [bytes(addressOf(recipient)), bytes(addressOf(payer)), time(block), amount],
  )
}

async function flags(database: Database, client: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ rule: string }>(
    'select distinct rule from feedback_flag where client = $1 order by rule',
    [bytes(addressOf(client))],
  )
  return rows.map(({ rule }) => rule)
}
