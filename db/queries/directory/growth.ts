import type { ChainName } from '../../../config/chains.ts'
import type { Queryable } from '../../pool.ts'
import { isoTime } from '../sql/json-text.ts'

interface Growth {
  /** Starts of the buckets, at least one, in milliseconds, ascending; the last bucket ends at `end`. */
  readonly starts: readonly number[]
  readonly end: number
  /** Agents with a current record on any of them; null: all. */
  readonly chain: readonly ChainName[] | null
}

/**
 * JSON array of the buckets, ascending, empty ones included: agents of today by when they became one, and by when they
 * were claimed first. Both columns have an index that leads to the window.
 */
export async function directoryGrowth(db: Queryable, { starts, end, chain }: Growth): Promise<string> {
  const times = starts.map((ms) => new Date(ms).toISOString())
  const { rows } = await db.query<{ points: string }>({
    name: 'directory-growth',
    text,
    values: [times, new Date(end).toISOString(), chain],
  })
  return rows[0]?.points ?? '[]'
}

const counts = (time: string, condition: string) => `
  select width_bucket(a.${time}, $1::timestamptz[]) as bucket, count(*) as n
    from agent a
   where ${condition} and a.${time} >= ($1::timestamptz[])[1] and a.${time} < $2
     and ($3::text[] is null or a.chains && $3)
   group by bucket`

const text = `
with listed as (${counts('listed_at', 'true')}),
claimed as (${counts('claimed_at', 'a.claimed')})
select coalesce(json_agg(json_build_object(
         'start', ${isoTime('start')}, 'agents', coalesce(listed.n, 0), 'claims', coalesce(claimed.n, 0)
       ) order by start), '[]')::text as points
  from unnest($1::timestamptz[]) with ordinality as one (start, bucket)
  left join listed using (bucket)
  left join claimed using (bucket)`
