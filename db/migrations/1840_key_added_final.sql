-- Whether the registry's final block has the log that added an app key: until then a reorg may undo or move it. False
-- beside no source: the chain had the log and has undone it. Null: added off the chain, or not asked since this is noted.
alter table signer_key add column added_final boolean;
