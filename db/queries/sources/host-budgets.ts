import type { Queryable } from '../../pool.ts'

export interface Spending {
  readonly host: string
  /** Requests in a UTC day; null: any number. */
  readonly perDay: number | null
  readonly now: Date
}

/** Counts one request to a host. Undefined: it may go out; else when to ask again, and nothing is counted. */
export async function spendRequest(db: Queryable, { host, perDay, now }: Spending): Promise<Date | undefined> {
  const { rows } = await db.query<{ taken: boolean; until: Date | null }>({
    name: 'spend-request',
    text: `
with today as (select ($2::timestamptz at time zone 'utc')::date as day),
taken as (
  insert into host_budget as b (host, day, spent) select $1, day, 1 from today
      on conflict (host) do update
     set day = excluded.day, spent = case when b.day = excluded.day then b.spent + 1 else 1 end, rests_until = null
   where (b.rests_until is null or b.rests_until <= $2)
     and ($3::int is null or b.day <> excluded.day or b.spent < $3)
  returning host)
select exists (select from taken) as taken,
       (select case when b.rests_until > $2 then b.rests_until else (today.day + 1)::timestamp at time zone 'utc' end
          from host_budget b, today where b.host = $1) as until`,
    values: [host, now, perDay],
  })
  const row = rows[0]
  return row?.taken ? undefined : (row?.until ?? now)
}

/** Remembers how long a host wants no requests. */
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
