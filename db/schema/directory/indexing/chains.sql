create or replace view directory.chains as
select s.chain, s.chain_id, s.indexed_block, s.indexed_at, s.finalized_block, s.head_block,
       (r.next_block - 1)::int as rolled_up_block, s.updated_at
  from public.chain_state s
  left join public.settlement_rollup r using (chain);

comment on view directory.chains is e'@primaryKey chain\n@name chain\nHow far each chain is indexed.';
comment on column directory.chains.chain is 'Lowercase name of the chain: ';
comment on column directory.chains.chain_id is 'EIP-155 id.';
comment on column directory.chains.indexed_block is 'Newest block whose rows are here.';
comment on column directory.chains.indexed_at is 'Time of that block.';
comment on column directory.chains.finalized_block is 'Rows at or below it are never undone.';
comment on column directory.chains.head_block is 'Newest block of the chain as last seen.';
comment on column directory.chains.rolled_up_block is 'Newest block in the hourly and daily views; null: no payments of the chain are indexed.';
comment on column directory.chains.updated_at is 'When this row was last written.';
