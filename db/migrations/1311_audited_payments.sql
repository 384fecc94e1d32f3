-- What an audit found beside settlements, in its certificate, as a load's has it. Null: audited before it was kept.
alter table audit_certificate
  add column payments bigint,
  add column payment_checksum numeric(20, 0); -- as of backfill_shard

create or replace view directory.certificates as
select 'backfill' as kind, b.chain, s.first_block as from_block, s.last_block as to_block,
       '0x' || encode(s.first_hash, 'hex') as first_block_hash, '0x' || encode(s.last_hash, 'hex') as last_block_hash,
       s.settlements, s.amount * 0.000001 as amount_usdc, s.checksum, null::int as mended, b.completed_at as certified_at,
       s.payments, s.payment_checksum
  from public.backfill_shard s
  join public.backfill b on b.id = s.backfill_id
 where b.completed_at is not null
 union all
select 'audit', chain, from_block, to_block, '0x' || encode(first_hash, 'hex'), '0x' || encode(last_hash, 'hex'),
       settlements, amount * 0.000001, checksum, missing + surplus + changed, audited_at, payments, payment_checksum::numeric
  from public.audit_certificate;
