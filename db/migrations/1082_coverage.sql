-- What a load and an audit were read from, kinds of sources: portal, archive, rpc. Empty, null: not known of older ones.
alter table backfill add column sources text[] not null default '{}';
alter table audit_certificate add column source text;

-- Certificates of blocks that follow each other are one within each 100,000 blocks, so that there are as many as the
-- chain is long, however often it was audited. The sums of their rows are those of the whole.
with marked as (
  select *, row_number() over (partition by chain order by from_block) as place,
         from_block = lag(to_block) over (partition by chain order by from_block) + 1
           and from_block / 100000 = lag(from_block) over (partition by chain order by from_block) / 100000 as follows
    from audit_certificate
),
grouped as (
  select *, count(*) filter (where follows is not true) over (partition by chain order by from_block) as run from marked
),
gone as (delete from audit_certificate where (chain, from_block) in (select chain, from_block from grouped where follows)),
joined as (
  select chain, min(from_block) as from_block, max(to_block) as to_block,
         (array_agg(last_hash order by from_block desc))[1] as last_hash, sum(settlements) as settlements,
         sum(amount) as amount, sum(checksum) % 18446744073709551616 as checksum, sum(missing) as missing,
         sum(surplus) as surplus, sum(changed) as changed, sum(unpaid) as unpaid, sum(events) as events,
         sum(agents) as agents, sum(custody) as custody, max(audited_at) as audited_at
    from grouped
   group by chain, run
  having count(*) > 1
)
update audit_certificate a
   set to_block = j.to_block, last_hash = j.last_hash, settlements = j.settlements, amount = j.amount,
       checksum = j.checksum, missing = j.missing, surplus = j.surplus, changed = j.changed, unpaid = j.unpaid,
       events = j.events, agents = j.agents, custody = j.custody, audited_at = j.audited_at
  from joined j
 where a.chain = j.chain and a.from_block = j.from_block;
