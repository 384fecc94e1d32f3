import type { Queryable } from '../../pool.ts'

interface Reservation {
  readonly host: string
  /** Requests wanted. */
  readonly count: number
  /** Milliseconds between two requests to the host, over all processes. */
  readonly intervalMs: number
  /** Requests per UTC day; null: no limit. */
  readonly perDay: number | null
  /** For days and rests; the pace is the database's own clock. */
  readonly now: Date
}

/** `inMs`: milliseconds until the first request may be sent; `until`: none may before, and none was counted. */
type Reserved = { readonly inMs: number } | { readonly until: Date }

/** Reserves requests to a host: counts them and takes the next free slots. */
export async function reserveRequests(
  db: Queryable,
  { host, count, intervalMs, perDay, now }: Reservation,
): Promise<Reserved> {
  const { rows } = await db.query<{ inMs: number | null; until: Date | null }>({
    name: 'reserve-requests',
    text: `
with today as (select ($2::timestamptz at time zone 'utc')::date as day, $5::float8 * interval '1 millisecond' as taken_time),
taken as (
  insert into host_budget as b (host, day, spent, next_at)
  select $1, day, $4::int, clock_timestamp() + taken_time from today
      on conflict (host) do update
     set day = excluded.day, spent = case when b.day = excluded.day then b.spent + $4 else $4 end, rests_until = null,
         next_at = greatest(b.next_at, clock_timestamp()) + (select taken_time from today)
   where (b.rests_until is null or b.rests_until <= $2)
     and ($3::int is null or b.day <> excluded.day or b.spent + $4 <= $3)
  returning next_at)
select (select extract(epoch from next_at - taken_time - clock_timestamp())::float8 * 1000 from taken, today) as "inMs",
       (select case when b.rests_until > $2 then b.rests_until else (today.day + 1)::timestamp at time zone 'utc' end
          -- Locked: what another one has just noted is in the row, not yet in what this statement saw at first.
          from (select * from host_budget where host = $1 for update) b, today) as until`,
    values: [host, now, perDay, count, count * intervalMs],
  })
  const { inMs = null, until = null } = rows[0] ?? {}
  return inMs === null ? { until: until ?? now } : { inMs: Math.max(0, inMs) }
}

/** Stores until when a host wants no requests. */
export async function restHost(
  db: Queryable,
  { host, until, now }: { host: string; until: Date; now: Date },
): Promise<void> {
  await db.query({
    name: 'rest-host',
    text: `
insert into host_budget as b (host, day, spent, rests_until) values ($1, ($2::timestamptz at time zone 'utc')::date, 0, $3)
    on conflict (host) do update set rests_until = greatest(b.rests_until, excluded.rests_until)`,
    values: [host, now, until],
  })
}
