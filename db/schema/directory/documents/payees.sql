create or replace view directory.payees as
select o.fid, o.kind, o.url, o.place, o.pay_to,
       -- A registration that is named by its registry's address is of one that is not indexed.
       public.payee_outcome(o.pay_to, o.agent_id is not null or o.named like '%:%:%' is true, held.owner is not null,
         (o.on_own_host
          or public.url_origin(o.agent_uri) = o.origin
          or exists (select from public.agent_holding h
                       join public.agent_spec s on s.fid = h.fid
                      where h.chain = o.agent_chain and h.agent_id = o.agent_id and h.fid <> o.fid and h.reason is null
                        and s.domain_verified and starts_with(lower(s.url) || '/', o.origin || '/'))) is true,
         held.wallet, held.owner) as outcome,
       o.agent_chain as chain, o.agent_id as erc8004_id, held.owner as owner_address, held.wallet as agent_wallet,
       held.block_number,
       (select case when v.verdict in ('proven', 'signed') then v.verdict else 'stated' end
          from public.verified_address v
         where v.fid = o.fid and v.ended_at is null and not exists (select from public.unlisted u where u.fid = o.fid)
           and v.address = case when o.pay_to ~ '^0x[0-9a-f]{40}$' then decode(substr(o.pay_to, 3), 'hex') end
         order by v.verified_at desc
         limit 1) as human_assurance
  from public.offer_agent o
  left join lateral (
    select '0x' || encode(owner.address, 'hex') as owner, '0x' || encode(wallet.address, 'hex') as wallet,
           state.finalized_block as block_number
      from public.chain_state state
     cross join lateral (
       select t."to" as address, t.block_number, t.log_index
         from public.registration_transfer t
        where t.chain = o.agent_chain and t.agent_id = o.agent_id and t.block_number <= state.finalized_block
        order by t.block_number desc, t.log_index desc
        limit 1) owner
      left join lateral (
       select w.wallet as address
         from public.registration_wallet w
        where w.chain = o.agent_chain and w.agent_id = o.agent_id and w.block_number <= state.finalized_block
          and (w.block_number, w.log_index) > (owner.block_number, owner.log_index)
        order by w.block_number desc, w.log_index desc
        limit 1) wallet on true
     where state.chain = o.agent_chain
  ) held on true;

comment on view directory.payees is e'@behavior -*\nWhether the address that each of directory.prices is to be paid at is its agent’s, at the newest final block; /api/payee says it for other moments, with evidence. Give a fid.';
comment on column directory.payees.fid is 'The agent’s id in the social network.';
comment on column directory.payees.kind is 'Kind of the document: a2a, mcp, openapi or x402.';
comment on column directory.payees.url is 'Where the document or the endpoint lies.';
comment on column directory.payees.place is 'Its place among the prices of the document, from 1.';
comment on column directory.payees.pay_to is 'Who is to be paid, as it is declared; an address in lowercase.';
comment on column directory.payees.outcome is 'As the draft ERC-8478 names it: verified-wallet, mismatch, endpoint-unlisted, owner-only, no-agent-wallet, no-identity, not-read. Payee delegations are not read yet.';
comment on column directory.payees.chain is 'Chain of the registration that it is held against: the one that the offer names, else one of the agent’s; null: none.';
comment on column directory.payees.erc8004_id is 'Number of that registration.';
comment on column directory.payees.owner_address is 'Who held it at that block.';
comment on column directory.payees.agent_wallet is 'Its wallet at that block; null: none.';
comment on column directory.payees.block_number is 'The final block that the registry was read at.';
comment on column directory.payees.human_assurance is 'proven, signed or stated: the account verifies the paid address itself, and how that is proven; null: it does not.';
