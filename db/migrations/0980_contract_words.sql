-- Comments of the SQL contract that said nothing without the view before them, or called a registration a token.

comment on view directory.registrations is e'@primaryKey chain,erc8004_id\n@name registration\nERC-8004 registrations as they are now, one row each, whoever holds it; with what its document was read as.';
comment on view directory.settlements_daily is e'@behavior -*\nSettlements by recipient, chain and UTC day, whoever was paid. Final blocks only, up to chains.rolled_up_block, without ranges a backfill is loading.';
