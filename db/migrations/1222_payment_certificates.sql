-- Certificates of backfills tell payments too.
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
       settlements, amount * 0.000001, checksum, missing + surplus + changed, audited_at, null, null
  from public.audit_certificate;
comment on column directory.certificates.payments is 'What forwarders passed on and contracts of x402 settled in the range; null: not counted.';
comment on column directory.certificates.payment_checksum is 'Sum modulo 2^64 over these of the first eight bytes of the SHA-256 of each; null: not counted.';
