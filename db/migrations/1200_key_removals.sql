-- What removed an app key, and when that was known here. Of one that was removed off the chain: a message of the key that
-- came later counts as one of after the removal, whatever time its signer wrote.
alter table signer_key
  add column key_remove_seen_at timestamptz, -- when that message was first read here; null: none, or before this was noted
  add column removed boolean,                -- what the registry says at its final block; null: it was not asked
  add column removed_log json;               -- {block_number, block_hash, tx_hash, log_index}; null: not removed, or not found
