-- outside a transaction
-- What was written in a range of blocks, for the auditor and for taking a chain back. One that was broken off is made anew.
drop index concurrently if exists registration_updated;
create index concurrently registration_updated on registration (chain, updated_block);
drop index concurrently if exists registration_transfer_block;
create index concurrently registration_transfer_block on registration_transfer (chain, block_number);
drop index concurrently if exists registration_metadata_block;
create index concurrently registration_metadata_block on registration_metadata (chain, block_number);
drop index concurrently if exists feedback_block;
create index concurrently feedback_block on feedback (chain, block_number);
drop index concurrently if exists feedback_revoked;
create index concurrently feedback_revoked on feedback (chain, revoked_block) where revoked_block is not null;
