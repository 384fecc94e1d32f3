import pg from 'pg'
import { type Chain, firstPaidBlock } from '../config/chains.row.ts'
import { chainNames, chainOf, identityRegistry, reputationRegistry, settlementChains } from '../config/chains.ts'
import type { Queryable } from './pool.ts'
import { ensurePartitions } from './queries/chain/partitions/settlement-partitions.ts'

/**
 * Blocks to allow above the newest one in a chain's row: about what the chain has produced since the row was written.
 */
const aheadBlocks = 2_000_000

/**
 * Brings the database up to date with the chain table: functions and comments about chains, and for every chain with a
 * token the partitions of its settlements, for every chain where anything is paid the cursor of its roll-up. Idempotent:
 * what exists is kept. Call it in a transaction.
 */
export async function ensureChainRows(db: Queryable): Promise<void> {
  await ensureFunctions(db)
  await ensureComments(db)
  for (const name of chainNames) {
    const { registry, tokens } = chainOf(name)
    if (tokens.length === 0) continue
    const known = Math.max(registry.fromBlock, ...tokens.map(({ fromBlock }) => fromBlock))
    await ensurePartitions(db, name, known + aheadBlocks)
  }
  await db.query(
    'insert into settlement_rollup (chain, next_block) select name, 0 from unnest($1::text[]) name on conflict do nothing',
    [settlementChains()],
  )
}

const quoted = (names: readonly string[]) => `array[${names.map((name) => pg.escapeLiteral(name)).join(', ')}]::text[]`

/** A value of each chain by its name; null: there is no such chain. Small enough for the planner to put it in place. */
function perChain(type: string, value: (chain: Chain, position: number) => string): string {
  const cases = chainNames.map((name, at) => `when ${pg.escapeLiteral(name)} then ${value(chainOf(name), at)}`)
  return `select (case $1 ${cases.join(' ')} end)::${type}`
}

/** Symbol of a token of the chain table by its address; null: of any other token, and of an address that stands for two. */
function tokenSymbols(): string {
  const symbols = new Map<string, string | undefined>()
  for (const { address, symbol = 'USDC' } of chainNames.flatMap((name) => chainOf(name).tokens)) {
    symbols.set(address, symbols.has(address) && symbols.get(address) !== symbol ? undefined : symbol)
  }
  const cases = [...symbols].map(([address, symbol]) =>
    symbol === undefined ? '' : ` when '\\x${address.slice(2)}' then ${pg.escapeLiteral(symbol)}`,
  )
  return `select ${cases.some(Boolean) ? `(case $1${cases.join('')} end)` : 'null'}::text`
}

/** Addresses of a chain's registries by its name; of '': those that the authors of the standard deployed. */
function registries(): string {
  const official = { registry: { address: identityRegistry }, reputation: { address: reputationRegistry } }
  const all = [['', official] as const, ...chainNames.map((name) => [name, chainOf(name)] as const)]
  const cases = all.map(([name, { registry, reputation }]) => {
    const [identity, other] = [registry, reputation].map(({ address }) => pg.escapeLiteral(address))
    return `when ${pg.escapeLiteral(name)} then case when $2 then ${other} else ${identity} end`
  })
  return `select (case $1 ${cases.join(' ')} end)::text`
}

/** Creates the SQL functions that statements and views use for facts of chains; replaces only those that changed. */
async function ensureFunctions(db: Queryable): Promise<void> {
  const wanted = [
    { name: 'chain_id_of', takes: 'text', gives: 'bigint', body: perChain('bigint', ({ id }) => String(id)) },
    {
      name: 'chain_label_of',
      takes: 'text',
      gives: 'text',
      body: perChain('text', ({ label }) => pg.escapeLiteral(label)),
    },
    {
      name: 'chain_position_of',
      takes: 'text',
      gives: 'int',
      body: perChain('int', (_, position) => String(position)),
    },
    {
      name: 'chain_first_block_of',
      takes: 'text',
      gives: 'int',
      body: perChain('int', (chain) => String(firstPaidBlock(chain))),
    },
    {
      name: 'tokens_are_scaled',
      takes: '',
      gives: 'boolean',
      body: `select ${chainNames.some((name) => chainOf(name).tokens.some(({ decimals }) => decimals !== 6))}`,
    },
    { name: 'token_symbol_of', takes: 'bytea', gives: 'text', body: tokenSymbols() },
    { name: 'registry_of', takes: 'of_chain text, of_reputation boolean', gives: 'text', body: registries() },
    { name: 'chain_names', takes: '', gives: 'text[]', body: `select ${quoted(chainNames)}` },
    { name: 'settlement_chain_names', takes: '', gives: 'text[]', body: `select ${quoted(settlementChains())}` },
  ]
  for (const { name, takes, gives, body } of wanted) {
    const { rowCount } = await db.query('select from pg_proc where proname = $1 and prosrc = $2', [name, body])
    if (rowCount) continue
    await db.query(
      `create or replace function ${name}(${takes}) returns ${gives} language sql immutable parallel safe
         as ${pg.escapeLiteral(body)}`,
    )
  }
}

const listOfChains = 'Lowercase name of the chain: '

/** Updates the comments of the SQL contract that list the chains. */
async function ensureComments(db: Queryable): Promise<void> {
  const comment = `${listOfChains}${chainNames.join(', ')}.`
  const { rows } = await db.query<{ column: string }>(
    `select format('%s.%I', objoid::regclass, attname) as column
       from pg_description
       join pg_attribute on attrelid = objoid and attnum = objsubid
      where classoid = 'pg_class'::regclass and starts_with(description, $1) and description <> $2
      order by 1`,
    [listOfChains, comment],
  )
  for (const { column } of rows) await db.query(`comment on column ${column} is ${pg.escapeLiteral(comment)}`)
}
