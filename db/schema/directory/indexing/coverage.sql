-- What is indexed of each chain and by whom, and what is missing: what GET /api/coverage says. Where a chain begins is what
-- it was indexed with, when an operator's file of chains says an earlier block than the chain table: blocks before the
-- table's would be told of by nobody.
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
                       (select min(c.from_block) from public.chain_contract c where c.chain = r.chain)) as first_block,
         coalesce(s.indexed_block, -1) as indexed,
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

comment on view directory.coverage is e'@behavior -*\nWhich blocks of each chain are indexed and by whom, and which are missing, range by range; ranges of a chain do not meet.';
comment on column directory.coverage.chain is 'Lowercase name of the chain: ';
comment on column directory.coverage.from_block is 'First block of the range.';
comment on column directory.coverage.to_block is 'Its last block; null: the range has no end.';
comment on column directory.coverage.by is 'processor or backfill; null: nobody.';
comment on column directory.coverage.state is 'indexed (by the processor), loaded, loading (reserved, and not all there), archived (taken out of the database: the rows are in the files under /exports) or missing.';
comment on column directory.coverage.missing_blocks is 'Blocks of it that are not there; null: without an end.';
comment on column directory.coverage.command is 'What closes it; null: nothing is missing.';
