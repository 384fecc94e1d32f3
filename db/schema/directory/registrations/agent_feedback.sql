-- Feedback on a registration that a stranger sent is not feedback on its holder, until the holder sets something.
create or replace view directory.agent_feedback as
select f.fid, f.chain, f.agent_id as erc8004_id, '0x' || encode(f.client, 'hex') as client_address,
       f.kind as client, f.client_fid, f.feedback_index,
       f.value * ('1e-' || f.value_decimals)::numeric as value, f.tag1, f.tag2, f.paid,
       f.block_number, f.log_index, f.block_timestamp, f.revoked_at, f.before_holder,
       f.unit, f.grounds, case f.grounds when 'payment' then public.payment_behind(f.fid, f.client, f.paid_at) ->> 'tx_hash'
                            when 'payment_named' then '0x' || encode(f.payment_tx, 'hex') end as payment_tx,
       f.file_status, f.file_hash, f.named as file_payment,
       array(select x.rule from public.feedback_flag x where x.id = f.id order by x.rule) as flags
  from public.judged_feedback f
 where exists (select from public.agent a where a.fid = f.fid);

comment on view directory.agent_feedback is e'@behavior -*\nFeedback on the registrations that an agent holds now, without those that strangers sent, with what is known of who gave it. Fast for one fid.';
comment on column directory.agent_feedback.fid is 'The agent’s id in the social network.';
comment on column directory.agent_feedback.chain is 'Lowercase name of the chain.';
comment on column directory.agent_feedback.erc8004_id is 'Number of the registration that was judged.';
comment on column directory.agent_feedback.client_address is 'Who gave it.';
comment on column directory.agent_feedback.client is 'Whose the address was then: self (one that is or was the agent’s own, or of who held the registration then), agent (of another one that is an agent now), account (of one that is not an agent now), stranger (nobody’s).';
comment on column directory.agent_feedback.client_fid is 'Account behind it; null: nobody.';
comment on column directory.agent_feedback.feedback_index is 'Counts the feedback of one client to one registration from 1 on.';
comment on column directory.agent_feedback.value is 'The number that was given, exact; tags have scales of their own.';
comment on column directory.agent_feedback.tag1 is 'First tag, free text.';
comment on column directory.agent_feedback.tag2 is 'Second tag, free text.';
comment on column directory.agent_feedback.paid is 'Whether the client had paid the agent, more than nothing, before: income of any kind, in dollars, in final blocks that are rolled up; never of the same owner.';
comment on column directory.agent_feedback.block_number is 'Block it was given in.';
comment on column directory.agent_feedback.log_index is 'Log index in the block.';
comment on column directory.agent_feedback.block_timestamp is 'Block time.';
comment on column directory.agent_feedback.revoked_at is 'When it was taken back; null: it stands.';
comment on column directory.agent_feedback.before_holder is 'Whether it was given before the agent held the registration: it says nothing of the agent.';
comment on column directory.agent_feedback.unit is 'Unit of the value, where tag1 is one of the standard’s and the value in its range: points, boolean, percent, milliseconds, blocks, usd; null: of a scale of its own.';
comment on column directory.agent_feedback.grounds is 'What it rests on: payment (one of the client before it), payment_named (one that its file names, and that is ours), contradicted (the named one came later, or another one made it), file (that fits), hash_mismatch, none.';
comment on column directory.agent_feedback.payment_tx is 'Transaction of the payment of grounds; null: none, or archived.';
comment on column directory.agent_feedback.file_status is 'What was read at its URI: ok, foreign (of other feedback), empty, unsupported, invalid, unreachable; null: nothing yet.';
comment on column directory.agent_feedback.file_hash is 'What its hash is of: content (of the file), sdk (a form of it that a known SDK writes), none (zero), mismatch; null: nothing was read.';
comment on column directory.agent_feedback.file_payment is 'Whether our rows have the payment that the file names: found, others (later, or made by another one than it says), missing (no row has it, as none has plain transfers), unknown; null: it names none.';
comment on column directory.agent_feedback.flags is 'Rules that flag it: circle, funding_chain, made_together, only_rates, shared_funder; docs/rules.md has them. Empty: none.';
