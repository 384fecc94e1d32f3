alter table chain_contract add column next_block int;
alter table chain_contract add column to_block int;
