import { isoTime } from './json-text.ts'

/** SQL: whether another hub, asked twice, lacks the message of a verification `v`, a row of `verified_address`. */
export function disputed(v: string): string {
  return `exists (select from verification_witness w
                   where w.fid = ${v}.fid and w.message_hash = ${v}.message_hash and w.disputed)`
}

/** SQL: the host of a hub's address, the rest of which may contain a key. */
export function hostOf(url: string): string {
  return `substring(${url} from '^[a-z]+://(?:[^/@]*@)?([^/]+)')`
}

/** SQL: what other hubs say of a verification, by host. */
export function testimonies(v: string): string {
  return `coalesce((select json_agg(json_build_object(
                             'hub', ${hostOf('w.url')}, 'has', w.has,
                             'checked_at', ${isoTime('w.checked_at')})
                             order by w.url)
                      from verification_witness w
                     where w.fid = ${v}.fid and w.message_hash = ${v}.message_hash), '[]')`
}

/**
 * Whether a row `m` of `farcaster_message` removes what a FID verified at a time or later, signed for the account: by a
 * key known to be its own or, until the chain was asked, by the key that signed the removed verification. A removal by
 * any other key proves no more than an answer that leaves the verification out. Expressions.
 */
export function removes(m: string, fid: string, address: string, verifiedAt: string): string {
  return `(${m}.fid = ${fid} and ${m}.address = ${address} and ${m}.envelope = 'held'
           and ${m}.type = 'MESSAGE_TYPE_VERIFICATION_REMOVE' and ${m}.message_time >= ${verifiedAt}
           and (${m}.key = 'held' or (${m}.key is null and ${m}.signer = (
                  select a.signer from farcaster_message a
                   where a.fid = ${m}.fid and a.address = ${m}.address and a.envelope = 'held'
                     and a.type = 'MESSAGE_TYPE_VERIFICATION_ADD_ETH_ADDRESS'
                     and a.message_time between ${verifiedAt} and ${m}.message_time
                   order by a.message_time desc, a.hash desc limit 1))))`
}

/**
 * Whether a signed message takes back what was verified before it: whoever shows that verification again shows an old one.
 * In the network a removal wins over what was said in the same second. Expressions.
 */
export function takenBack(fid: string, address: string, verifiedAt: string): string {
  return `exists (select from farcaster_message m where ${removes('m', fid, address, verifiedAt)})`
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
