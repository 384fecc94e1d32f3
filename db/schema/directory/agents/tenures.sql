create or replace view directory.tenures as
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
