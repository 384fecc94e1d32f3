import type { Queryable } from '../../pool.ts'
import { takenBack, witnessed } from '../sql/disputed-messages.ts'
import type { Settled, VerifiedSet } from './verified-addresses.ts'

/**
 * Whether a complete answer about a FID, stored as `endVerifications` and `openVerifications` do it, would change which
 * addresses it verifies: not by what another hub keeps, what was taken back or what is not settled yet. An empty answer
 * ends something when another one said so `emptyAfterMs` before.
 */
export async function wouldChange(
  db: Queryable,
  {
    fid,
    live,
    now,
    settledBefore,
    emptyAfterMs,
  }: Settled<Omit<VerifiedSet, 'askedAt'>> & { readonly emptyAfterMs: number },
): Promise<boolean> {
  const { rows } = await db.query<{ changes: boolean }>({
    name: 'would-change',
    text: `
with live as (select * from unnest($2::bytea[], $3::timestamptz[]) as live (address, verified_at))
select exists (select from verified_address v
                where v.fid = $1 and v.ended_at is null and v.observed_at < $4
                  and not exists (select from live where live.address = v.address) and not ${witnessed('v')}
                  and (exists (select from live)
                       or exists (select from emptied_account where fid = $1 and first_empty_at <= $5)))
       or exists (select from live
                   where not exists (select from verified_address v where v.fid = $1 and v.address = live.address
                                        and (v.ended_at is null
                                             or (v.verified_at = live.verified_at and v.observed_at >= $4)))
                     and not ${takenBack('$1', 'live.address', 'live.verified_at')}) as changes`,
    values: [
      fid,
      live.map(({ address }) => Buffer.from(address.slice(2), 'hex')),
      live.map(({ verifiedAt }) => verifiedAt),
      settledBefore,
      new Date(now.getTime() - emptyAfterMs),
    ],
  })
  return rows[0]?.changes === true
}
