import { agentsOfPart, lastRegistrationPart, registrationsOfPart } from '../../due/kinds.ts'
import type { Queryable } from '../../pool.ts'

/** Inserts what is counted of parts: those that are as they were are not written. */
const stored = (columns: readonly string[], counted: string) => `
  insert into directory_sum as kept (part, ${columns.join(', ')})
  ${counted}
      on conflict (part) do update
     set (${columns.join(', ')}) = row(${columns.map((name) => `excluded.${name}`).join(', ')})
   where (${columns.map((name) => `kept.${name}`).join(', ')}) is distinct from (${columns.map((name) => `excluded.${name}`).join(', ')})`

const agents = stored(
  ['agents', 'claimed', 'cross_chain'],
  `select 'agents:' || p.part, counted.*
    from unnest($1::bigint[]) as p (part)
   cross join lateral (
     select count(*), count(*) filter (where claimed), count(*) filter (where cardinality(chains) >= 2)
       from agent
      where fid >= p.part * ${agentsOfPart} and fid < (p.part + 1) * ${agentsOfPart}
     offset 0) counted`,
)

const windows = ['last_24h', 'last_7d', 'last_30d', 'ever']
/** Those that begin with the hex digits of a part. */
const isInPart = (address: string) =>
  `${address} >= decode(rpad(p.part, 4, '0'), 'hex') and ${address} <= decode(rpad(p.part, 64, 'f'), 'hex')`
/** What an agent verifies was verified once, whatever became of it since: the index of that leads to it. */
const addresses = stored(
  ['addresses', ...windows],
  `select 'addresses:' || p.part, counted.*
    from unnest($2::text[]) as p (part)
   cross join lateral (
     select count(*), ${windows.map((name) => `coalesce(sum(c.${name}), 0)::bigint`).join(', ')}
       from (
         select address, bool_or(is_verified) as is_verified
           from (select t."to" as address, false as is_verified from registration_transfer t where ${isInPart('t."to"')}
                  union all
                 select v.address, true
                   from verified_address v
                  cross join lateral (
                    select from agent a where a.fid = v.fid and v.address = any (a.verified_addresses) offset 0) a
                  where ${isInPart('v.address')}) one
          group by address
       ) known
       left join lateral (
         select * from recipient_counts c where c.address = known.address and known.is_verified offset 0) c on true
     offset 0) counted`,
)

const supply = stored(
  ['chain', 'identities'],
  `select 'supply:' || p.chain || ':' || p.part, p.chain, counted.*
    from (select split_part(key, ':', 1) as chain, split_part(key, ':', 2)::int as part
            from unnest($3::text[]) as key) p
   cross join lateral (
     select count(*)
       from registration r
      where r.chain = p.chain and r.agent_id >= p.part * ${registrationsOfPart}
        and r.agent_id < case p.part when ${lastRegistrationPart} then numeric 'Infinity' else (p.part + 1) * ${registrationsOfPart} end
        and not r.burned
     offset 0) counted`,
)

/** In one statement, so that figures that are read together are of the same agents. */
const text = `
with agents as (${agents}
),
addresses as (${addresses}
)${supply}`

/** Counts parts of the directory from their rows, given as keys of the kind `totals`. */
export async function deriveDirectorySums(db: Queryable, parts: readonly string[]): Promise<void> {
  const of = (prefix: string) =>
    parts.filter((part) => part.startsWith(prefix)).map((part) => part.slice(prefix.length))
  const values = [of('agents:'), of('addresses:'), of('supply:')]
  await db.query({ name: 'derive-directory-sums', text, values })
}
