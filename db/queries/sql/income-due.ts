import { dueOfPayee } from '../../due/escrows.ts'
import { hasMoved } from '../../due/paid-hours.ts'
import { dueHours, hourOf } from './income.ts'
import { isoTime } from './json-text.ts'

// Since when income waits to be summed up. Whatever waits of others, what waits of an agent is found by the index of keys.

/** Waiting payments of escrows that are looked at. */
const mostEscrows = 1_000

/**
 * SQL: the hour from which on rows of escrows may count otherwise, as their parts or their hours wait; null: none does. `keys` is a
 * query for what waits, and whether it is anybody's income; `first`, one for the first payment there is, from which on nothing is
 * complete when more waits than is looked at. Else it is the hour of the first place that waits, or of the next row behind it.
 */
const escrowsSince = (keys: string, first: string) => `(
        with waiting as materialized (${keys} limit ${mostEscrows + 1})
        select date_trunc('hour', greatest(since.at, start.at), 'UTC')
          from (select case when (select count(*) from waiting) > ${mostEscrows} then '-infinity'::timestamptz
                            else (select min(next.block_timestamp)
                                    from (select split_part(key, ':', 2) as chain, min(split_part(key, ':', 4)::bigint) as place
                                            from waiting where is_income group by 1) w
                                   cross join lateral (
                                     select p.block_timestamp from payment p
                                      where (p.chain, p.block_number, p.log_index)
                                            >= (w.chain, (w.place >> 32)::int, (w.place & 4294967295)::int)
                                        and p.chain <= w.chain
                                      order by p.chain, p.block_number, p.log_index limit 1) next) end as at) since
         cross join (${first}) start (at)
         where since.at is not null and start.at is not null)`

const escrowKinds = `unnest(array['funders', 'escrows', 'escrow hours']) kind`

/** SQL: the first hour that waits to be summed up, as text; null: none does. */
export const firstDueOfAll = `(
    select ${isoTime('min(hour)')}
      from (select ${hourOf('key')} as hour from due where kind = 'income hours'
             union all
            select ${escrowsSince(
              `select d.key, exists (select from income_address i where i.address = decode(left(d.key, 40), 'hex')) as is_income
                 from ${escrowKinds} join due d on d.kind = kind.kind`,
              `select min(p.block_timestamp)
                 from unnest(chain_names()) chain (name)
                cross join lateral (
                  select block_timestamp from payment where chain = name
                   order by chain, block_number, log_index limit 1) p`,
            )}) waits)`

/**
 * SQL: the same of an agent. Addresses that it has lost count while their hours are in its sums.
 */
export const firstDue = (fid: string) => `(
      with own as materialized (
        select address from income_address where fid = ${fid}
         union
        select recipient from income_hour where fid = ${fid}
      )
      select ${isoTime('min(hour)')}
        from (select (select min(${hourOf('d.key')}) from ${dueHours('own.address')}) as hour from own
               union all
              select ${escrowsSince(
                `select d.key, true as is_income from own cross join ${escrowKinds}
                  cross join lateral (
                    select d.key from ${dueOfPayee('kind.kind', 'own.address')}
                     order by d.key collate "C" limit ${mostEscrows + 1}) d`,
                `select min(p.block_timestamp)
                   from own
                  cross join lateral (
                    select block_timestamp from payment p where payee = own.address and ${hasMoved('p')}
                     order by payee, block_timestamp, chain, block_number, log_index limit 1) p`,
              )}) waits)`
