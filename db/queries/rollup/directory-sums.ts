import { lockKeys } from '../../lock-keys.ts'
import type { Queryable } from '../../pool.ts'

/** One sum over the whole directory, kept in parts: db/schema/tables/14_rankings.sql. */
interface Sums {
  readonly table: string
  /** Kind under which changed parts are marked as dirty. */
  readonly kind: string
  readonly key: readonly string[]
  readonly columns: readonly string[]
  /** SQL relation with the keys of all parts. */
  readonly parts: string
  /** SQL query that counts the columns of one part `p` from its rows. */
  readonly count: string
  /** SQL query for the key and columns of all parts with rows, used when many parts are to be counted. */
  readonly countAll: string
}

/** Dirty parts up to which each is counted by its key range; with more, reading all rows is faster. */
const fewParts = 64

const largestFid = 9_223_372_036_854_775_807n // of a bigint column
const standing = `count(*) as total, count(*) filter (where claimed) as claimed,
           count(*) filter (where cardinality(chains) >= 2) as cross_chain`
/** In each: `offset 0` has rows looked up by their index, part by part. */
const agents: Sums = {
  table: 'agent_sum',
  kind: 'agents',
  key: ['part'],
  columns: ['total', 'claimed', 'cross_chain'],
  parts: `select '' as chain, part from generate_series(0, 4095) as part`,
  count: `
    select ${standing}
      from agent
     where fid >= p.part * 512 and fid <= case p.part when 4095 then ${largestFid} else p.part * 512 + 511 end
    offset 0`,
  countAll: `select agent_part(fid) as part, ${standing} from agent group by 1`,
}

const windows = ['last_24h', 'last_7d', 'last_30d', 'ever']
const settled = `count(*) as held, ${windows.map((name) => `coalesce(sum(c.${name}), 0)::bigint as ${name}`).join(', ')}`
const inPart = (address: string) =>
  `${address} >= address_part_start(p.part) and ${address} < address_part_start(p.part + 1)`
const addresses: Sums = {
  table: 'address_sum',
  kind: 'addresses',
  key: ['part'],
  columns: ['held', ...windows],
  parts: agents.parts,
  // What an agent verifies was verified once, whatever became of it since: the index of that leads to it.
  count: `
    select ${settled}
      from (
        select address, bool_or(is_verified) as is_verified
          from (select t."to" as address, false as is_verified from registration_transfer t where ${inPart('t."to"')}
                 union all
                select v.address, true
                  from verified_address v
                 cross join lateral (
                   select from agent a where a.fid = v.fid and v.address = any (a.verified_addresses) offset 0) a
                 where ${inPart('v.address')}) one
         group by address
      ) held
      left join lateral (
        select * from recipient_counts c where c.address = held.address and held.is_verified offset 0) c on true
    offset 0`,
  countAll: `
    select address_part(held.address) as part, ${settled}
      from (
        select address, bool_or(is_verified) as is_verified
          from (select "to" as address, false as is_verified from registration_transfer where "to" is not null
                 union all
                select unnest(verified_addresses), true from agent) one
         group by address
      ) held
      left join recipient_counts c on c.address = held.address and held.is_verified
     group by 1`,
}

const supply: Sums = {
  table: 'supply_sum',
  kind: 'supply',
  key: ['chain', 'part'],
  columns: ['n'],
  parts: 'select chain, part from unnest(chain_names()) as chain cross join generate_series(0, 511) as part',
  count: `
    select count(*) as n
      from registration r
     where r.chain = p.chain and r.agent_id >= p.part * 1024
       and r.agent_id < case p.part when 511 then numeric 'Infinity' else (p.part + 1) * 1024 end
       and not r.burned
    offset 0`,
  countAll:
    'select chain, token_part(agent_id) as part, count(*) as n from registration where not burned group by 1, 2',
}

export const directorySums = { agents, addresses, supply } as const

const sameKey = ({ key }: Sums, one: string, other: string) =>
  key.map((name) => `${one}.${name} = ${other}.${name}`).join(' and ')
const isMoved = (sums: Sums, row: string) =>
  `exists (select from moved m where m.kind = '${sums.kind}' and ${sameKey(sums, 'm', row)})`

/** Common table expressions with the dirty parts of each of the sums. */
export const dirtyParts = [
  'moved as materialized (select distinct kind, chain, part from directory_moved)',
  ...Object.values(directorySums).map(
    (sums) => `
${sums.table}_dirty as materialized (
  select ${sums.key.join(', ')} from (${sums.parts}) p
   where ${isMoved(sums, 'p')} or not exists (select from ${sums.table} s where ${sameKey(sums, 's', 'p')})
)`,
  ),
].join(',')

/** SQL query for the stored key and columns of the parts that are not dirty. Needs `dirtyParts` before it. */
export const keptParts = (sums: Sums): string =>
  `select ${[...sums.key, ...sums.columns].join(', ')} from ${sums.table} s where not ${isMoved(sums, 's')}`

/** SQL query that counts the dirty parts: key and columns. Needs `dirtyParts` before it. */
export function countedParts(sums: Sums): string {
  const { table, key, columns, count, countAll } = sums
  const keys = key.map((name) => `p.${name}`)
  const many = `(select count(*) from ${table}_dirty) > ${fewParts}`
  return `
  select ${[...keys, ...columns.map((name) => `counted.${name}`)].join(', ')}
    from ${table}_dirty p
   cross join lateral (${count}) counted
   where not ${many}
   union all
  select ${[...keys, ...columns.map((name) => `coalesce(counted.${name}, 0)`)].join(', ')}
    from ${table}_dirty p
    left join (${countAll}) counted on ${sameKey(sums, 'counted', 'p')}
   where ${many}`
}

/**
 * Recounts and stores the parts of the directory's sums that are dirty or missing, in the caller's transaction. It is
 * one statement, so that it removes only the marks of changes it has seen. When another process is doing it, this one
 * skips it: neither would see the other's work.
 */
export async function storeDirectorySums(db: Queryable): Promise<void> {
  const { rows } = await db.query<{ locked: boolean }>({
    name: 'lock-directory-sums',
    text: 'select pg_try_advisory_xact_lock($1) as locked',
    values: [lockKeys.directorySums],
  })
  if (rows[0]?.locked) await db.query({ name: 'store-directory-sums', text })
}

const stored = Object.values(directorySums).map((sums) => {
  const { table, key, columns } = sums
  return `
${table}_stored as (
  insert into ${table} (${[...key, ...columns].join(', ')})
  ${countedParts(sums)}
      on conflict (${key.join(', ')}) do update
     set (${columns.join(', ')}) = row(${columns.map((name) => `excluded.${name}`).join(', ')})
)`
})
const text = `
with ${[dirtyParts, ...stored].join(',')}
delete from directory_moved`
