-- The SQL contract, what it lacked: feedback, transfers, metadata, what documents and sources say, payers, and what the
-- rows are worth. None of it is offered by GraphQL.

create or replace view directory.settlements as
select s.chain, s.block_number, s.log_index, '0x' || encode(s.tx_hash, 'hex') as tx_hash, s.block_timestamp,
       '0x' || encode(s.payer, 'hex') as payer_address, '0x' || encode(s.recipient, 'hex') as recipient_address,
       '0x' || encode(s.facilitator, 'hex') as facilitator_address, '0x' || encode(s.token, 'hex') as token_address,
       '0x' || encode(s.payment_nonce, 'hex') as payment_nonce, '0x' || encode(s.selector, 'hex') as selector,
       s.selector in ('\xe3ee160e', '\xef55bec6') as counted,
       s.amount, s.amount * 0.000001 as amount_usdc, s.recipient as recipient_bytes,
       coalesce(s.block_number <= c.finalized_block, false) as final, 'USDC' as token_symbol, s.payer as payer_bytes
  from public.settlement s
  left join public.chain_state c on c.chain = s.chain;
comment on column directory.settlements.final is 'Whether it is at or below the finalized block: it will not be undone.';
comment on column directory.settlements.token_symbol is 'The stablecoin’s symbol: the tokens that are indexed are the chains’ native USDC.';
comment on column directory.settlements.payer_bytes is 'The payer as bytes: conditions on it use an index, those on the text do not.';

create or replace view directory.agent_settlements as
select v.fid, s.chain, s.block_number, s.log_index, '0x' || encode(s.tx_hash, 'hex') as tx_hash, s.block_timestamp,
       '0x' || encode(s.payer, 'hex') as payer_address, '0x' || encode(s.recipient, 'hex') as recipient_address,
       '0x' || encode(s.facilitator, 'hex') as facilitator_address,
       '0x' || encode(s.payment_nonce, 'hex') as payment_nonce, '0x' || encode(s.selector, 'hex') as selector,
       s.selector in ('\xe3ee160e', '\xef55bec6') as counted, s.amount, s.amount * 0.000001 as amount_usdc,
       coalesce(s.block_number <= c.finalized_block, false) as final, 'USDC' as token_symbol
  from public.agent a
  join public.verified_address v on v.fid = a.fid and v.ended_at is null
  join public.settlement s on s.recipient = v.address
  left join public.chain_state c on c.chain = s.chain;
comment on column directory.agent_settlements.final is 'Whether it is at or below the finalized block: it will not be undone.';
comment on column directory.agent_settlements.token_symbol is 'The stablecoin’s symbol: the tokens that are indexed are the chains’ native USDC.';

create or replace view directory.specs as
select fid, kind, url, title, version, skills, tools, path_count, domain_verified,
       '0x' || encode(content_sha256, 'hex') as content_sha256, first_seen_at, last_alive_at, last_check_at,
       last_check_status, http_status, latency_ms, consecutive_failures, declared, card_signature
  from public.agent_spec;
comment on column directory.specs.declared is 'Whether a registration of the agent names it; else it was found where such descriptions usually lie.';
comment on column directory.specs.card_signature is 'Of an A2A card: valid, invalid, untrusted or none; null: another kind.';

create view directory.feedback as
select chain, agent_id as erc8004_id, '0x' || encode(client, 'hex') as client_address, feedback_index,
       value * ('1e-' || value_decimals)::numeric as value, tag1, tag2, endpoint, feedback_uri,
       '0x' || encode(feedback_hash, 'hex') as feedback_hash, block_number, log_index,
       '0x' || encode(tx_hash, 'hex') as tx_hash, block_timestamp, revoked_block, revoked_at, client as client_bytes
  from public.feedback;
comment on view directory.feedback is e'@behavior -*\nFeedback on ERC-8004 registrations, whoever gave it, revoked ones included. Give a chain with a token, or client_bytes.';
comment on column directory.feedback.chain is 'Lowercase name of the chain.';
comment on column directory.feedback.erc8004_id is 'Number of the token that was judged.';
comment on column directory.feedback.client_address is 'Who gave it; anybody may, from as many addresses as he likes.';
comment on column directory.feedback.feedback_index is 'Counts the feedback of one client to one token from 1 on.';
comment on column directory.feedback.value is 'The number that was given, exact; tags have scales of their own.';
comment on column directory.feedback.tag1 is 'First tag, free text.';
comment on column directory.feedback.tag2 is 'Second tag, free text.';
comment on column directory.feedback.endpoint is 'Endpoint it is about, as given; not checked.';
comment on column directory.feedback.feedback_uri is 'URI of more, as given; not read.';
comment on column directory.feedback.feedback_hash is 'Hash of what the URI leads to, as given.';
comment on column directory.feedback.block_number is 'Block it was given in.';
comment on column directory.feedback.log_index is 'Log index in the block.';
comment on column directory.feedback.tx_hash is 'The transaction.';
comment on column directory.feedback.block_timestamp is 'Block time.';
comment on column directory.feedback.revoked_block is 'Block in which the client took it back; null: it stands.';
comment on column directory.feedback.revoked_at is 'When it was taken back; null: it stands.';
comment on column directory.feedback.client_bytes is 'The client as bytes: conditions on it use an index, those on the text do not.';

create view directory.feedback_totals as
select chain, agent_id as erc8004_id, standing, revoked
  from public.feedback_total
 where (standing, revoked) <> (0, 0);
comment on view directory.feedback_totals is e'@behavior -*\nHow much feedback each registration was given; none has no row.';
comment on column directory.feedback_totals.chain is 'Lowercase name of the chain.';
comment on column directory.feedback_totals.erc8004_id is 'Number of the token.';
comment on column directory.feedback_totals.standing is 'Feedback that was not revoked.';
comment on column directory.feedback_totals.revoked is 'Feedback that was.';

create view directory.agent_feedback as
select a.fid, f.chain, f.agent_id as erc8004_id, '0x' || encode(f.client, 'hex') as client_address,
       coalesce(k.kind, 'stranger') as client, k.fid as client_fid, f.feedback_index,
       f.value * ('1e-' || f.value_decimals)::numeric as value, f.tag1, f.tag2,
       coalesce(k.kind <> 'self', true)
         and exists (select from public.settlement_payer s
                      where s.recipient = any (a.verified_addresses) and s.payer = f.client and s.amount > 0
                        and not s.overload and s.first_at < f.block_timestamp) as paid,
       f.block_number, f.log_index, f.block_timestamp, f.revoked_at
  from public.agent a
  join public.agent_holding h on h.fid = a.fid and h.reason is null
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
comment on view directory.agent_feedback is e'@behavior -*\nFeedback on the registrations that an agent holds now, with what is known of who gave it. Fast for one fid.';
comment on column directory.agent_feedback.fid is 'The agent’s id in the social network.';
comment on column directory.agent_feedback.chain is 'Lowercase name of the chain.';
comment on column directory.agent_feedback.erc8004_id is 'Number of the token that was judged.';
comment on column directory.agent_feedback.client_address is 'Who gave it.';
comment on column directory.agent_feedback.client is 'Who verifies that address now: self (the agent), agent (another one), account (one that is no agent), stranger (nobody).';
comment on column directory.agent_feedback.client_fid is 'Account behind it; null: nobody.';
comment on column directory.agent_feedback.feedback_index is 'Counts the feedback of one client to one token from 1 on.';
comment on column directory.agent_feedback.value is 'The number that was given, exact; tags have scales of their own.';
comment on column directory.agent_feedback.tag1 is 'First tag, free text.';
comment on column directory.agent_feedback.tag2 is 'Second tag, free text.';
comment on column directory.agent_feedback.paid is 'Whether the client had paid the agent, more than nothing, before; final blocks that are rolled up; never of its own addresses.';
comment on column directory.agent_feedback.block_number is 'Block it was given in.';
comment on column directory.agent_feedback.log_index is 'Log index in the block.';
comment on column directory.agent_feedback.block_timestamp is 'Block time.';
comment on column directory.agent_feedback.revoked_at is 'When it was taken back; null: it stands.';

create view directory.transfers as
select chain, agent_id as erc8004_id, '0x' || encode("from", 'hex') as from_address,
       '0x' || encode("to", 'hex') as to_address, block_number, log_index, block_timestamp,
       '0x' || encode(tx_hash, 'hex') as tx_hash, "to" as to_bytes
  from public.registration_transfer;
comment on view directory.transfers is e'@behavior -*\nEvery change of hands of a registration, mints and burns included.';
comment on column directory.transfers.chain is 'Lowercase name of the chain.';
comment on column directory.transfers.erc8004_id is 'Number of the token.';
comment on column directory.transfers.from_address is 'Who had it; null: it was minted.';
comment on column directory.transfers.to_address is 'Who got it; null: it was burned.';
comment on column directory.transfers.block_number is 'Block of the transfer.';
comment on column directory.transfers.log_index is 'Log index in the block.';
comment on column directory.transfers.block_timestamp is 'Block time.';
comment on column directory.transfers.tx_hash is 'The transaction.';
comment on column directory.transfers.to_bytes is 'The receiver as bytes: conditions on it use an index, those on the text do not.';

create view directory.registration_metadata as
select chain, agent_id as erc8004_id, key, '0x' || encode(value, 'hex') as value, block_number, log_index, block_timestamp
  from public.registration_metadata;
comment on view directory.registration_metadata is e'@behavior -*\nOn-chain metadata of registrations: the present value of each key.';
comment on column directory.registration_metadata.chain is 'Lowercase name of the chain.';
comment on column directory.registration_metadata.erc8004_id is 'Number of the token.';
comment on column directory.registration_metadata.key is 'Name of the entry; agentWallet is reserved.';
comment on column directory.registration_metadata.value is 'Its bytes as hex.';
comment on column directory.registration_metadata.block_number is 'Block in which it was set last.';
comment on column directory.registration_metadata.log_index is 'Log index in the block.';
comment on column directory.registration_metadata.block_timestamp is 'Block time.';

create view directory.services as
select d.chain, d.agent_id as erc8004_id, s.place::int as place, s.service->>'name' as name,
       s.service->>'endpoint' as endpoint, s.service->>'version' as version
  from public.registration_document d
 cross join lateral json_array_elements(d.services) with ordinality as s (service, place);
comment on view directory.services is e'@behavior -*\nServices that the documents of registrations name, in their order.';
comment on column directory.services.chain is 'Lowercase name of the chain.';
comment on column directory.services.erc8004_id is 'Number of the token.';
comment on column directory.services.place is 'Place in the document, from 1.';
comment on column directory.services.name is 'What it calls itself: A2A, MCP, web and others, as written.';
comment on column directory.services.endpoint is 'Where it is, as written; not checked.';
comment on column directory.services.version is 'Version of the protocol, as written.';

create view directory.trust_models as
select d.chain, d.agent_id as erc8004_id, t.place::int as place, t.model
  from public.registration_document d
 cross join lateral json_array_elements_text(d.supported_trust) with ordinality as t (model, place);
comment on view directory.trust_models is e'@behavior -*\nTrust models that the documents of registrations claim to support.';
comment on column directory.trust_models.chain is 'Lowercase name of the chain.';
comment on column directory.trust_models.erc8004_id is 'Number of the token.';
comment on column directory.trust_models.place is 'Place in the document, from 1.';
comment on column directory.trust_models.model is 'As written: reputation, crypto-economic and others.';

create view directory.spec_checks as
select c.fid, c.spec_check_status, c.checked_at
  from public.agent_spec_check c
 where exists (select from public.agent a where a.fid = c.fid);
comment on view directory.spec_checks is e'@behavior -*\nHow looking for machine-readable descriptions on an agent’s hosts went last.';
comment on column directory.spec_checks.fid is 'The agent’s id in the social network.';
comment on column directory.spec_checks.spec_check_status is 'found, not_found, unreachable or invalid.';
comment on column directory.spec_checks.checked_at is 'When it was looked.';

create view directory.tags as
select t.fid, '0x' || encode(t.address, 'hex') as address, t.source, t.chain, t.slug, t.name, t.tag_type, t.ordinal,
       t.meta::text as meta, '0x' || encode(t.attester, 'hex') as attester_address, t.fetched_at
  from public.oli_tag t
 where exists (select from public.agent a where a.fid = t.fid);
comment on view directory.tags is e'@behavior -*\nLabels that others gave to addresses of agents.';
comment on column directory.tags.fid is 'The agent’s id in the social network.';
comment on column directory.tags.address is 'The address that is labelled.';
comment on column directory.tags.source is 'blockscout or oli.';
comment on column directory.tags.chain is 'Lowercase name of the chain; null: it holds on every chain.';
comment on column directory.tags.slug is 'Short name of the label.';
comment on column directory.tags.name is 'The label.';
comment on column directory.tags.tag_type is 'name, protocol, generic, classifier and others.';
comment on column directory.tags.ordinal is 'Rank among labels of its type, as the source says; null: it does not.';
comment on column directory.tags.meta is 'What the source says besides, as JSON; null: nothing.';
comment on column directory.tags.attester_address is 'Who attested it; null: nobody.';
comment on column directory.tags.fetched_at is 'When it was first read as it is.';

create view directory.identities as
select i.fid, i.platform, i.identity, i.display_name, i.address, i.url, i.avatar_url, i.description, i.sources,
       i.follower_count, i.fetched_at
  from public.agent_identity i
 where exists (select from public.agent a where a.fid = i.fid);
comment on view directory.identities is e'@behavior -*\nNames and accounts of agents elsewhere.';
comment on column directory.identities.fid is 'The agent’s id in the social network.';
comment on column directory.identities.platform is 'Where: ens, lens, twitter and others.';
comment on column directory.identities.identity is 'What it is called there.';
comment on column directory.identities.display_name is 'Name to show there; null: none.';
comment on column directory.identities.address is 'Address it resolves to; null: none.';
comment on column directory.identities.url is 'Its page there; not checked.';
comment on column directory.identities.avatar_url is 'Address of its picture; not checked.';
comment on column directory.identities.description is 'What it says of itself there.';
comment on column directory.identities.sources is 'Who says that it is the agent’s; empty: the identity itself.';
comment on column directory.identities.follower_count is 'Followers there; null: not known.';
comment on column directory.identities.fetched_at is 'When it was first read as it is.';

create view directory.codehosts as
select c.fid, c.login, c.user_id, c.type, c.name, c.url, c.avatar_url, c.blog, c.bio, c.followers, c.following,
       c.public_repos, c.total_stars, c.top_languages, c.account_created_at, c.last_push_at, c.verified, c.source,
       c.fetched_at
  from public.codehost_profile c
 where exists (select from public.agent a where a.fid = c.fid);
comment on view directory.codehosts is e'@behavior -*\nAccounts of a code host that agents name.';
comment on column directory.codehosts.fid is 'The agent’s id in the social network.';
comment on column directory.codehosts.login is 'Name of the account, as the host writes it.';
comment on column directory.codehosts.user_id is 'Its number there; names change, numbers do not.';
comment on column directory.codehosts.type is 'User or Organization.';
comment on column directory.codehosts.name is 'Name to show; null: none.';
comment on column directory.codehosts.url is 'Its page.';
comment on column directory.codehosts.avatar_url is 'Address of its picture.';
comment on column directory.codehosts.blog is 'Web site it names; not checked.';
comment on column directory.codehosts.bio is 'What it says of itself.';
comment on column directory.codehosts.followers is 'Followers there.';
comment on column directory.codehosts.following is 'How many it follows.';
comment on column directory.codehosts.public_repos is 'Public repositories.';
comment on column directory.codehosts.total_stars is 'Stars of its own repositories, together.';
comment on column directory.codehosts.top_languages is 'Languages of its repositories, most used first.';
comment on column directory.codehosts.account_created_at is 'When the account was made.';
comment on column directory.codehosts.last_push_at is 'When it last pushed to one of them.';
comment on column directory.codehosts.verified is 'Whether the account names the agent as well.';
comment on column directory.codehosts.source is 'Where the agent names it: socialindex, identity, registration.';
comment on column directory.codehosts.fetched_at is 'When it was first read as it is.';

create view directory.payers as
select '0x' || encode(recipient, 'hex') as recipient_address, '0x' || encode(payer, 'hex') as payer_address, chain,
       not overload as counted, first_at, last_at, n as settlements, amount * 0.000001 as amount_usdc,
       recipient as recipient_bytes, payer as payer_bytes
  from public.settlement_payer;
comment on view directory.payers is e'@behavior -*\nWho paid whom, on which chain and how often. Final blocks only, up to chains.rolled_up_block, without ranges a backfill is loading.';
comment on column directory.payers.recipient_address is 'Who was paid.';
comment on column directory.payers.payer_address is 'Who paid.';
comment on column directory.payers.chain is 'Lowercase name of the chain.';
comment on column directory.payers.counted is 'Whether it is of one of the two selectors that rankings and counts of the API are made of.';
comment on column directory.payers.first_at is 'Block time of the first settlement between them.';
comment on column directory.payers.last_at is 'Block time of the last one.';
comment on column directory.payers.settlements is 'Settlements between them.';
comment on column directory.payers.amount_usdc is 'Dollars, with all six decimals.';
comment on column directory.payers.recipient_bytes is 'The recipient as bytes: conditions on it use an index, those on the text do not.';
comment on column directory.payers.payer_bytes is 'The payer as bytes: conditions on it use an index, those on the text do not.';

create view directory.agent_payers_daily as
select v.fid, s.chain, date_trunc('day', s.block_timestamp, 'UTC') as day, '0x' || encode(s.payer, 'hex') as payer_address,
       s.selector in ('\xe3ee160e', '\xef55bec6') as counted, count(*) as settlements, sum(s.amount) * 0.000001 as amount_usdc
  from public.agent a
  join public.verified_address v on v.fid = a.fid and v.ended_at is null
  join public.settlement s on s.recipient = v.address
 group by v.fid, s.chain, date_trunc('day', s.block_timestamp, 'UTC'), s.payer, s.selector in ('\xe3ee160e', '\xef55bec6');
comment on view directory.agent_payers_daily is e'@behavior -*\nWho paid an agent on each UTC day, to the block. Give a fid: its settlements are read.';
comment on column directory.agent_payers_daily.fid is 'The agent’s id in the social network.';
comment on column directory.agent_payers_daily.chain is 'Lowercase name of the chain.';
comment on column directory.agent_payers_daily.day is 'Beginning of the day, UTC.';
comment on column directory.agent_payers_daily.payer_address is 'Who paid.';
comment on column directory.agent_payers_daily.counted is 'Whether it is of one of the two selectors that rankings and counts of the API are made of.';
comment on column directory.agent_payers_daily.settlements is 'Settlements in it.';
comment on column directory.agent_payers_daily.amount_usdc is 'Dollars, with all six decimals.';

create view directory.sources as
select s.source, s.subject, case when s.subject like 'fid:%' then substr(s.subject, 5)::bigint end as fid, s.due_at,
       s.last_attempt_at, s.last_success_at, s.last_outcome, s.failures
  from public.source_state s
 where not exists (select from public.unlisted u where s.subject = 'fid:' || u.fid);
comment on view directory.sources is e'@behavior -*\nWhen each source was last asked about what, and how that went. Conditions on subject use an index.';
comment on column directory.sources.source is 'socialindex, agent_uri, explorer, identity, codehost, spec_discovery and others.';
comment on column directory.sources.subject is 'What it is asked about: fid:1, token:<chain>:12, address:0x…, shard:1.';
comment on column directory.sources.fid is 'The account it is asked about; null: it is none.';
comment on column directory.sources.due_at is 'When it is asked again, at the earliest.';
comment on column directory.sources.last_attempt_at is 'When it was asked last; null: never.';
comment on column directory.sources.last_success_at is 'When it last answered; null: never.';
comment on column directory.sources.last_outcome is 'What the last attempt came to; null: there was none.';
comment on column directory.sources.failures is 'Attempts that failed since it last answered.';

create view directory.streams as
select source, shard, updated_at from public.source_cursor;
comment on view directory.streams is e'@behavior -*\nWhen streams and sweeps of sources last moved.';
comment on column directory.streams.source is 'Name of the stream or sweep.';
comment on column directory.streams.shard is 'Its part.';
comment on column directory.streams.updated_at is 'When it last moved.';

create view directory.reservations as
select b.id, b.chain, b.from_block, b.to_block, b.completed_at, s.loaded_blocks, s.settlements, s.amount_usdc
  from public.backfill b
 cross join lateral (
   select coalesce(sum(next_block - first_block), 0)::bigint as loaded_blocks,
          coalesce(sum(settlements), 0)::bigint as settlements, coalesce(sum(amount), 0) * 0.000001 as amount_usdc
     from public.backfill_shard where backfill_id = b.id
 ) s;
comment on view directory.reservations is e'@behavior -*\nRanges of blocks that a backfill loads, or has loaded: the chain’s processor leaves their settlements alone.';
comment on column directory.reservations.id is 'Number of the backfill.';
comment on column directory.reservations.chain is 'Lowercase name of the chain.';
comment on column directory.reservations.from_block is 'First block of the range.';
comment on column directory.reservations.to_block is 'Its last block.';
comment on column directory.reservations.completed_at is 'When all its rows were there; null: it is being loaded.';
comment on column directory.reservations.loaded_blocks is 'Blocks that were read so far.';
comment on column directory.reservations.settlements is 'Settlements in them.';
comment on column directory.reservations.amount_usdc is 'Dollars, with all six decimals.';

create view directory.certificates as
select 'backfill' as kind, b.chain, s.first_block as from_block, s.last_block as to_block,
       '0x' || encode(s.first_hash, 'hex') as first_block_hash, '0x' || encode(s.last_hash, 'hex') as last_block_hash,
       s.settlements, s.amount * 0.000001 as amount_usdc, s.checksum, null::int as mended, b.completed_at as certified_at
  from public.backfill_shard s
  join public.backfill b on b.id = s.backfill_id
 where b.completed_at is not null
 union all
select 'audit', chain, from_block, to_block, '0x' || encode(first_hash, 'hex'), '0x' || encode(last_hash, 'hex'),
       settlements, amount * 0.000001, checksum, missing + surplus + changed, audited_at
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

create view directory.changes as
select seq, fid, kind, changed_at from public.agent_change;
comment on view directory.changes is e'@behavior -*\nThe log of changes that mirrors follow: the newest entry of each agent.';
comment on column directory.changes.seq is 'Number of the entry; later ones are larger.';
comment on column directory.changes.fid is 'The agent’s id in the social network.';
comment on column directory.changes.kind is 'upsert: the agent changed, or is new; delist: it left.';
comment on column directory.changes.changed_at is 'When it did.';
