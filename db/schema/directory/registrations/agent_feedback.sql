-- Feedback on a registration that a stranger sent is not feedback on its holder, until the holder sets something.
create or replace view directory.agent_feedback as
select a.fid, f.chain, f.agent_id as erc8004_id, '0x' || encode(f.client, 'hex') as client_address,
       coalesce(k.kind, 'stranger') as client, k.fid as client_fid, f.feedback_index,
       f.value * ('1e-' || f.value_decimals)::numeric as value, f.tag1, f.tag2,
       coalesce(k.kind <> 'self', true)
         and exists (select from public.settlement_payer s
                      where s.recipient = any (a.verified_addresses) and s.payer = f.client and s.amount > 0
                        and not s.overload and coalesce(s.first_paid_at, s.first_at) < f.block_timestamp) as paid,
       f.block_number, f.log_index, f.block_timestamp, f.revoked_at
  from public.agent a
  join public.agent_holding h on h.fid = a.fid and h.reason is null and not h.unsolicited
  join public.feedback f on f.chain = h.chain and f.agent_id = h.agent_id
  left join lateral (
    select v.fid, case when v.fid = a.fid then 'self' when peer.fid is not null then 'agent' else 'account' end as kind
      from public.verified_address v
      left join public.agent peer on peer.fid = v.fid
     where v.address = f.client and v.ended_at is null
       and not exists (select from public.unlisted u where u.fid = v.fid)
     order by v.fid <> a.fid, peer.fid is null, v.fid
     limit 1
  ) k on true;

comment on view directory.agent_feedback is e'@behavior -*\nFeedback on the registrations that an agent holds now, without those that strangers sent, with what is known of who gave it. Fast for one fid.';
comment on column directory.agent_feedback.fid is 'The agent’s id in the social network.';
comment on column directory.agent_feedback.chain is 'Lowercase name of the chain.';
comment on column directory.agent_feedback.erc8004_id is 'Number of the registration that was judged.';
comment on column directory.agent_feedback.client_address is 'Who gave it.';
comment on column directory.agent_feedback.client is 'Who verifies that address now: self (the agent), agent (another one), account (one that is no agent), stranger (nobody).';
comment on column directory.agent_feedback.client_fid is 'Account behind it; null: nobody.';
comment on column directory.agent_feedback.feedback_index is 'Counts the feedback of one client to one registration from 1 on.';
comment on column directory.agent_feedback.value is 'The number that was given, exact; tags have scales of their own.';
comment on column directory.agent_feedback.tag1 is 'First tag, free text.';
comment on column directory.agent_feedback.tag2 is 'Second tag, free text.';
comment on column directory.agent_feedback.paid is 'Whether the client had paid the agent, more than nothing, before; final blocks that are rolled up; never of its own addresses.';
comment on column directory.agent_feedback.block_number is 'Block it was given in.';
comment on column directory.agent_feedback.log_index is 'Log index in the block.';
comment on column directory.agent_feedback.block_timestamp is 'Block time.';
comment on column directory.agent_feedback.revoked_at is 'When it was taken back; null: it stands.';
