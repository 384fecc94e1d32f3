-- Partitions of settlements that were taken out of the database, once files of the served export had their rows. Written by
-- the archive command alone.

create table settlement_archive (
  chain text not null,
  from_block int not null,
  to_block int not null,                 -- inclusive; the archived blocks of a chain have no gaps between them
  sealed_to int not null,                -- nothing up to this block changes any more: the end of the last archived day
  partition text not null,
  last_at timestamptz,                   -- block time of the newest row; null: there was none
  available_since timestamptz,           -- block time of the first row behind; null: there is none
  archived_at timestamptz not null default clock_timestamp(),
  dropped_at timestamptz,                -- null: the table still has to be detached or dropped
  primary key (chain, from_block)
);

-- What the rows came to, in pieces that no certificate's end lies within: certificates of archived blocks add up from them.
create table settlement_archive_piece (
  chain text not null,
  from_block int not null,
  to_block int not null,                 -- inclusive
  settlements bigint not null,
  amount numeric not null,               -- base units
  checksum numeric(20, 0) not null,      -- as of backfill_shard
  primary key (chain, from_block)
);

-- What the rows of an archived partition summed up to, for those who count a recipient anew.
create table settlement_archive_sum (
  chain text not null,
  recipient bytea not null,
  payer bytea not null,
  facilitator bytea not null,
  overload boolean not null,
  archive_block int not null,            -- from_block of the archive; sums without one count for nothing
  first_at timestamptz not null,
  last_at timestamptz not null,
  n bigint not null,
  amount numeric(38, 0) not null,
  primary key (chain, recipient, payer, facilitator, overload, archive_block)
);

-- Up to where each chain is archived; no row: it is not. Hours that begin at `until` or before are kept as they were summed.
create view settlement_archived as
select chain, max(to_block) as to_block, max(sealed_to) as sealed_to, max(last_at) as until,
       max(available_since) as available_since
  from settlement_archive
 group by chain;

-- How a selector was found goes into the files: without it a row could not be made again from them.
create or replace view directory.settlements as
select s.chain, s.block_number, s.log_index, '0x' || encode(s.tx_hash, 'hex') as tx_hash, s.block_timestamp,
       '0x' || encode(s.payer, 'hex') as payer_address, '0x' || encode(s.recipient, 'hex') as recipient_address,
       '0x' || encode(s.facilitator, 'hex') as facilitator_address, '0x' || encode(s.token, 'hex') as token_address,
       '0x' || encode(s.payment_nonce, 'hex') as payment_nonce, '0x' || encode(s.selector, 'hex') as selector,
       s.selector in ('\xe3ee160e', '\xef55bec6') as counted,
       s.amount, s.amount * 0.000001 as amount_usdc, s.recipient as recipient_bytes,
       coalesce(s.block_number <= c.finalized_block, false) as final, 'USDC' as token_symbol, s.payer as payer_bytes,
       s.selector_source::text as selector_source
  from public.settlement s
  left join public.chain_state c on c.chain = s.chain;
comment on column directory.settlements.selector_source is 'How the selector was found: c, the transaction’s calldata; t, a trace; i, inferred from the logs.';

create or replace view directory.coverage as
with reserved as (
  select b.chain, b.from_block, b.to_block, b.completed_at is not null as loaded, left_over.blocks
    from public.backfill b
   cross join lateral (
     select coalesce(sum(greatest(s.last_block - s.next_block + 1, 0)), 0)::bigint as blocks
       from public.backfill_shard s where s.backfill_id = b.id
   ) left_over
),
known as (
  select r.chain, least(public.chain_first_block_of(r.chain),
                       (select min(c.from_block) from public.chain_contract c where c.chain = r.chain)) as first_block, coalesce(s.indexed_block, -1) as indexed,
         s.chain is not null as followed,
         case when s.chain is null then 2147483647
              else greatest(s.head_block, s.indexed_block, (select max(to_block) from reserved v where v.chain = r.chain))
          end as last_block
    from public.settlement_rollup r
    left join public.chain_state s using (chain)
),
-- Blocks before each reservation, and behind the last one.
free as (
  select k.chain, k.indexed, k.followed,
         coalesce(max(p.to_block) over (partition by k.chain order by p.from_block
                                         rows between unbounded preceding and 1 preceding) + 1, k.first_block) as from_block,
         p.from_block - 1 as to_block
    from known k
   cross join lateral (
     select v.from_block::bigint, v.to_block::bigint from reserved v where v.chain = k.chain
      union all
     select k.last_block + 1::bigint, null
   ) p
),
range as (
  select chain, from_block::bigint, least(to_block, indexed)::bigint as to_block, 'processor' as by, 'indexed' as state,
         0::bigint as missing_blocks, null as command
    from free where from_block <= least(to_block, indexed)
   union all
  select chain, from_block, to_block, 'backfill', case when loaded then 'loaded' else 'loading' end,
         case when loaded then 0 else blocks end,
         case when not loaded then format('npm run backfill -- --chain %s --from %s --to %s', chain, from_block, to_block) end
    from reserved
   union all
  select chain, greatest(from_block, indexed + 1), nullif(to_block, 2147483647), null, 'missing',
         nullif(to_block, 2147483647) - greatest(from_block, indexed + 1) + 1,
         case when followed or to_block = 2147483647 then format('npm run processor -- %s', chain)
              else format('npm run backfill -- --chain %s --from %s --to %s', chain, from_block, to_block) end
    from free where greatest(from_block, indexed + 1) <= to_block
),
-- What was archived of a range, and what is still there.
part as (
  select r.*, coalesce(a.to_block, -1)::bigint as archived_to
    from range r
    left join public.settlement_archived a on a.chain = r.chain
)
select chain, from_block, least(to_block, archived_to) as to_block, by, 'archived' as state, missing_blocks, command
  from part where from_block <= archived_to and state in ('indexed', 'loaded')
 union all
select chain, case when state in ('indexed', 'loaded') then greatest(from_block, archived_to + 1) else from_block end,
       to_block, by, state, missing_blocks, command
  from part where state not in ('indexed', 'loaded') or to_block > archived_to;
comment on column directory.coverage.state is 'indexed (by the processor), loaded, loading (reserved, and not all there), archived (taken out of the database: the rows are in the files under /exports) or missing.';
