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

comment on view directory.certificates is e'@behavior -*\nWhat was found in ranges of blocks: equal rows give equal certificates, whichever source they were read from.';
comment on column directory.certificates.kind is 'backfill: as it was loaded; audit: as the archive says, after the table was mended.';
comment on column directory.certificates.chain is 'Lowercase name of the chain.';
comment on column directory.certificates.from_block is 'First block of the range.';
comment on column directory.certificates.to_block is 'Its last block.';
comment on column directory.certificates.first_block_hash is 'Hash of the first block.';
comment on column directory.certificates.last_block_hash is 'Hash of the last block.';
comment on column directory.certificates.settlements is 'Settlements in the range.';
comment on column directory.certificates.amount_usdc is 'Dollars, with all six decimals.';
comment on column directory.certificates.checksum is 'Sum modulo 2^64 over the blocks of the first eight bytes of the SHA-256 of their rows.';
comment on column directory.certificates.mended is 'Settlements that were missing, too many or otherwise before; null: it was not audited.';
comment on column directory.certificates.certified_at is 'When that was found.';
comment on column directory.certificates.payments is 'What forwarders passed on and contracts of x402 settled in the range.';
comment on column directory.certificates.payment_checksum is 'Sum modulo 2^64 over these of the first eight bytes of the SHA-256 of each.';
