/**
 * Registrations of an agent whose wallets and earlier holders are examined: the latest acquired first, then those that
 * strangers sent, which could otherwise crowd out the rest.
 */
const mostHoldings = 1_000
/** The latest wallets that one holder gave a registration, which are examined. */
const mostWallets = 100

/** A statement: registrations that an agent `a` holds or held. */
export const holdings = `(select * from agent_holding h where h.fid = a.fid order by h.unsolicited, h.acquired_at desc, h.chain, h.agent_id, h.acquired_block desc, h.acquired_log_index desc limit ${mostHoldings})`

/**
 * A statement: wallets that registrations of the FIDs $1 named while an address that is verified now held them, each from
 * the block that set it to the next change or transfer. A mint names the holder itself, which counts as verified or not.
 */
export const walletIntervals = `
  select a.fid, named.wallet as address, h.chain, named.from_at, named.to_at
    from agent a
   cross join lateral ${holdings} h
    left join lateral (
      select t.block_number, t.log_index, t.block_timestamp
        from registration_transfer t
       where t.chain = h.chain and t.agent_id = h.agent_id
         and (t.block_number, t.log_index) > (h.acquired_block, h.acquired_log_index)
       order by t.block_number, t.log_index
       limit 1
    ) gone on true
   cross join lateral (
     select w.wallet, w.block_timestamp as from_at,
            coalesce(lead(w.block_timestamp) over (order by w.block_number, w.log_index), gone.block_timestamp, 'infinity') as to_at
       from (
         select w.*
           from registration_wallet w
          where w.chain = h.chain and w.agent_id = h.agent_id
            and (w.block_number, w.log_index) > (h.acquired_block, h.acquired_log_index)
            and (gone.block_number is null or (w.block_number, w.log_index) < (gone.block_number, gone.log_index))
          order by w.block_number desc, w.log_index desc
          limit ${mostWallets}
       ) w
   ) named
   where a.fid = any ($1::bigint[]) and h.held_by = any (a.verified_addresses) and named.from_at < named.to_at
     and named.wallet is not null and named.wallet <> all (a.verified_addresses)`
