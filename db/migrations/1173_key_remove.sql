-- Messages that remove an app key off the chain: what the key signed before stays, it signs nothing any more.
alter table signer_key
  add column key_remove json,               -- as received
  add column key_remove_signer bytea,       -- the address that signed for it; null: the key itself
  add column key_removed_at timestamptz;    -- the time that its signer wrote; null: it was not removed so
