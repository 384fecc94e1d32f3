-- Verified addresses of Solana: [{address, verified_at, message_hash}], sorted by address. They are shown and joined to nothing.
alter table social_profile add column other_addresses jsonb not null default '[]';
