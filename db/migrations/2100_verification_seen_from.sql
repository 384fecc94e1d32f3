-- Since when an address counts as the account's, where nobody has said when it was verified; null: verified_at says it.
alter table verified_address add column seen_from timestamptz;
