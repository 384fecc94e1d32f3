-- Settlements of everybody by who signed them, by who sent them and by transaction. Readers go on meanwhile; whoever writes
-- settlements waits until the indexes are built.
create index settlement_payer_block on settlement (payer, block_number desc);
create index settlement_facilitator_block on settlement (facilitator, block_number desc);
create index settlement_tx on settlement using hash (tx_hash);

-- Agents by the tags on their addresses.
create index oli_tag_slug on oli_tag (lower(slug));
create index oli_tag_name on oli_tag (lower(name));
