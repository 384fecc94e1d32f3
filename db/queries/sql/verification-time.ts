// When an account verified an address, of a row `v` of `verified_address`. A hub's list of addresses has no times: such a
// row has `-infinity`, which no message can have, until the account is read by itself, and when it was seen first.

/** SQL: whether nobody has said when. */
export const isUntimed = (v: string) => `${v}.verified_at = '-infinity'`

/** SQL: the time that was said, to be shown; null: nobody has said it. */
export const saidAt = (v: string) => `nullif(${v}.verified_at, '-infinity')`

/** SQL: since when the address counts as the account's. */
export const countsFrom = (v: string) => `coalesce(${v}.seen_from, ${v}.verified_at)`

/**
 * Whether a verification was made before its FID last changed hands: by its own time, or by a key that was added for
 * somebody who had the FID before. A key that was asked about before the transfer is one of before it, until it is
 * asked about again. `v` names a row of `verified_address`.
 */
export function beforeCustody(v: string): string {
  return `coalesce((
    select ${v}.verified_at <= c.block_timestamp
           or exists (select from farcaster_message m
                        join signer_key k on k.fid = m.fid and k.key = m.signer
                       where m.fid = ${v}.fid and m.hash = ${v}.message_hash and k.checked_at is not null
                         and (coalesce(k.custody_block, -1) < c.block_number
                              or (k.before_custody and k.custody_block = c.block_number)))
      from fid_custody c
     where c.fid = ${v}.fid
     order by c.block_number desc, c.log_index desc
     limit 1), false)`
}

/**
 * SQL: the order of the agents `a` that verify an address by `v`, which leads to the first of them: the claimed, then the
 * newest verification, then the lowest fid.
 */
export const leadingFirst = 'a.claimed desc, v.verified_at desc, a.fid'
