import { isoTime } from './json-text.ts'

/** SQL: whether another hub, asked twice, lacks the message of a verification `v`, a row of `verified_address`. */
export function disputed(v: string): string {
  return `exists (select from verification_witness w
                   where w.fid = ${v}.fid and w.message_hash = ${v}.message_hash and w.disputed)`
}

/** SQL: what other hubs say of a verification, by host. The rest of a hub's address may contain a key. */
export function testimonies(v: string): string {
  return `coalesce((select json_agg(json_build_object(
                             'hub', substring(w.url from '^[a-z]+://(?:[^/@]*@)?([^/]+)'), 'has', w.has,
                             'checked_at', ${isoTime('w.checked_at')})
                             order by w.url)
                      from verification_witness w
                     where w.fid = ${v}.fid and w.message_hash = ${v}.message_hash), '[]')`
}

/**
 * Whether a signed message takes back what was verified before it: whoever shows that verification again shows an old one.
 * In the network a removal wins over what was said in the same second. Expressions; a message of a key that is not the
 * FID's takes nothing back.
 */
export function takenBack(fid: string, address: string, verifiedAt: string): string {
  return `exists (select from farcaster_message m
                   where m.fid = ${fid} and m.address = ${address} and m.envelope = 'held'
                     and m.key is distinct from 'failed'
                     and m.type = 'MESSAGE_TYPE_VERIFICATION_REMOVE' and m.message_time >= ${verifiedAt})`
}

/**
 * Whether a hub other than the followed one has the message that a verification rests on, as it said when it was asked
 * last, and no signed message takes the verification back. `v`: of `verified_address`.
 */
export function witnessed(v: string): string {
  return `(exists (select from verification_witness w
                    where w.fid = ${v}.fid and w.message_hash = ${v}.message_hash and w.has)
           and not ${takenBack(`${v}.fid`, `${v}.address`, `${v}.verified_at`)})`
}
