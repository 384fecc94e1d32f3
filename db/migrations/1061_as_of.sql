-- How it was at a time, for readers of the SQL contract. Each function is one select, so that it becomes part of the
-- statement that calls it: `strict` or a setting of its own would make it a scan that no index reaches.

create view directory.tenures as
select t.chain, t.agent_id as erc8004_id, '0x' || encode(t."to", 'hex') as holder_address, t.block_timestamp as held_from,
       (select n.block_timestamp
          from public.registration_transfer n
         where n.chain = t.chain and n.agent_id = t.agent_id and n."from" is distinct from n."to"
           and (n.block_number, n.log_index) > (t.block_number, t.log_index)
         order by n.block_number, n.log_index
         limit 1) as held_to,
       t."to" as holder_bytes
  from public.registration_transfer t
 where t."to" is not null and t."from" is distinct from t."to";
comment on view directory.tenures is e'@behavior -*\nWho held which registration from when to when, whoever it is: one row for each time an address received it.';
comment on column directory.tenures.chain is 'Lowercase name of the chain.';
comment on column directory.tenures.erc8004_id is 'Identifier of the registration on the chain.';
comment on column directory.tenures.holder_address is 'Who held it.';
comment on column directory.tenures.held_from is 'Block time of the mint or transfer that brought it.';
comment on column directory.tenures.held_to is 'Block time of the transfer or burn that took it away; null: held now.';
comment on column directory.tenures.holder_bytes is 'The holder as bytes: conditions on it use an index, those on the text do not.';

create or replace function directory.agent_as_of(fid bigint, at timestamptz)
returns table (chain text, erc8004_id numeric, held_by text, held_from timestamptz, held_to timestamptz)
language sql stable parallel safe as $$
  select t.chain, t.erc8004_id, t.holder_address, greatest(t.held_from, a.verified_at), least(t.held_to, a.ended_at)
    from directory.addresses a
    join directory.tenures t on t.holder_bytes = a.address_bytes
   where a.fid = $1 and a.verified_at <= $2 and (a.ended_at is null or a.ended_at > $2)
     and t.held_from <= $2 and (t.held_to is null or t.held_to > $2)
$$;
comment on function directory.agent_as_of(bigint, timestamptz) is e'@behavior -*\nRegistrations that an account held at a time, through addresses that were its own then, and from when to when it did.';

create or replace function directory.fids_of_address_as_of(address text, at timestamptz)
returns table (fid bigint, verified_at timestamptz, ended_at timestamptz)
language sql stable parallel safe as $$
  select a.fid, a.verified_at, a.ended_at
    from directory.addresses a
   where a.address_bytes = decode(substr($1, 3), 'hex') and a.verified_at <= $2 and (a.ended_at is null or a.ended_at > $2)
$$;
comment on function directory.fids_of_address_as_of(text, timestamptz) is e'@behavior -*\nAccounts whose verified address it was at a time; 0x and 40 hex digits.';

create or replace function directory.holders_as_of(chain text, at timestamptz)
returns table (erc8004_id numeric, holder_address text, held_from timestamptz, held_to timestamptz)
language sql stable parallel safe as $$
  select t.erc8004_id, t.holder_address, t.held_from, t.held_to
    from directory.tenures t
   where t.chain = $1 and t.held_from <= $2 and (t.held_to is null or t.held_to > $2)
$$;
comment on function directory.holders_as_of(text, timestamptz) is e'@behavior -*\nWho held the registrations of a chain at a time; reads all transfers up to then.';
