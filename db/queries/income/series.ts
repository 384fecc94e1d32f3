import type { ChainName } from '../../../config/chains.ts'
import type { Queryable } from '../../pool.ts'
import { firstDue } from '../sql/income-due.ts'
import { dollars, isoTime } from '../sql/json-text.ts'

interface Series {
  readonly fid: number
  /** Starts of the buckets, in milliseconds on full hours, ascending; the last bucket ends at `end`. */
  readonly starts: readonly number[]
  readonly end: number
  /** Null: all. */
  readonly chain: readonly ChainName[] | null
}

interface Points {
  /** JSON array. */
  readonly points: string
  /** Since when hours of the agent wait to be summed up; null: none does. */
  readonly due: string | null
}

/** The buckets' income, ascending, empty ones included; raw and filtered. Reads the agent's hours alone. */
export async function incomeSeries(db: Queryable, { fid, starts, end, chain }: Series): Promise<Points> {
  const times = starts.map((ms) => new Date(ms).toISOString())
  const { rows } = await db.query<Points>({
    name: 'income-series',
    text,
    values: [fid, times, new Date(end).toISOString(), chain],
  })
  return rows[0] ?? { points: '[]', due: null }
}

const sum = (column: string, condition = 'true') => `coalesce(sum(${column}) filter (where ${condition}), 0)`

const text = `
with sums as (
  select width_bucket(hour, $2::timestamptz[]) as bucket, ${sum('n')} as n, ${sum('amount')} as amount,
         ${sum('n', `flag = 'none'`)} as filtered_n, ${sum('amount', `flag = 'none'`)} as filtered_amount
    from income_hour
   where fid = $1 and hour >= ($2::timestamptz[])[1] and hour < $3 and ($4::text[] is null or chain = any ($4))
   group by 1
)
select coalesce(json_agg(json_build_object(
         'start', ${isoTime('start')},
         'payments', coalesce(n, 0)::bigint,
         'amount_usdc', ${dollars('coalesce(amount, 0)')},
         'filtered_payments', coalesce(filtered_n, 0)::bigint,
         'filtered_amount_usdc', ${dollars('coalesce(filtered_amount, 0)')}
       ) order by start), '[]')::text as points, ${firstDue('$1')} as due
  from unnest($2::timestamptz[]) with ordinality as one (start, bucket)
  left join sums using (bucket)`
