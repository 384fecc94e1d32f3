-- The SQL contract: what data teams may read, and what GraphQL and exports are made of. Version 1. A view's columns only
-- grow; db/contract/directory.json is its record. First lines of a comment that begin with @ are relations for GraphQL.

create schema if not exists directory;
comment on schema directory is 'Version 1. Addresses and hashes are lowercase hex with 0x in front, times are timestamptz, chains go by their lowercase name, amount_usdc is dollars with all six decimals.';

create view directory.agents as
select fid, handle, display_name, bio, pfp_url, oli, chains,
       array(select '0x' || encode(address, 'hex')
               from unnest(verified_addresses) with ordinality as verified (address, place) order by place) as verified_addresses,
       claimed, claim_method, claimed_at, agent_status, has_spec, has_codehost, spec_check_status,
       settlements_30d, settlements_all, last_settlement_at, registered_at, listed_at,
       greatest(registry_event_at, last_settlement_at, last_message_at, last_alive_at) as last_seen_at, changed_at
  from public.agent;

create view directory.addresses as
select fid, '0x' || encode(address, 'hex') as address, verified_at, ended_at, address as address_bytes
  from public.verified_address;

create view directory.registrations as
select r.chain, r.agent_id as erc8004_id, '0x' || encode(r.owner, 'hex') as owner_address, r.burned,
       '0x' || encode(r.agent_wallet, 'hex') as agent_wallet, r.agent_uri,
       r.registered_block as block_number, '0x' || encode(r.registered_tx, 'hex') as tx_hash,
       r.registered_at as deployed_at, r.acquired_at, r.updated_at,
       d.uri_status, d.name, d.description, d.image, d.active, d.x402_support
  from public.registration r
  left join public.registration_document d using (chain, agent_id);

create view directory.holdings as
select fid, chain, agent_id as erc8004_id, '0x' || encode(held_by, 'hex') as held_by,
       acquired_block, acquired_log_index, acquired_at, released_block, released_at,
       '0x' || encode(released_tx, 'hex') as released_tx, '0x' || encode(transferred_to, 'hex') as transferred_to,
       to_fid, reason
  from public.agent_holding;

create view directory.settlements as
select chain, block_number, log_index, '0x' || encode(tx_hash, 'hex') as tx_hash, block_timestamp,
       '0x' || encode(payer, 'hex') as payer_address, '0x' || encode(recipient, 'hex') as recipient_address,
       '0x' || encode(facilitator, 'hex') as facilitator_address, '0x' || encode(token, 'hex') as token_address,
       '0x' || encode(payment_nonce, 'hex') as payment_nonce, '0x' || encode(selector, 'hex') as selector,
       selector in ('\xe3ee160e', '\xef55bec6') as counted,
       amount, amount * 0.000001 as amount_usdc, recipient as recipient_bytes
  from public.settlement;

create view directory.agent_settlements as
select v.fid, s.chain, s.block_number, s.log_index, '0x' || encode(s.tx_hash, 'hex') as tx_hash, s.block_timestamp,
       '0x' || encode(s.payer, 'hex') as payer_address, '0x' || encode(s.recipient, 'hex') as recipient_address,
       '0x' || encode(s.facilitator, 'hex') as facilitator_address,
       '0x' || encode(s.payment_nonce, 'hex') as payment_nonce, '0x' || encode(s.selector, 'hex') as selector,
       s.selector in ('\xe3ee160e', '\xef55bec6') as counted, s.amount, s.amount * 0.000001 as amount_usdc
  from public.agent a
  join public.verified_address v on v.fid = a.fid and v.ended_at is null
  join public.settlement s on s.recipient = v.address;

create view directory.settlements_hourly as
select '0x' || encode(recipient, 'hex') as recipient_address, chain, hour, not overload as counted,
       n as settlements, amount * 0.000001 as amount_usdc, recipient as recipient_bytes
  from public.settlement_hourly;

create view directory.settlements_daily as
select '0x' || encode(recipient, 'hex') as recipient_address, chain, date_trunc('day', hour, 'UTC') as day,
       not overload as counted, sum(n)::bigint as settlements, sum(amount) * 0.000001 as amount_usdc,
       recipient as recipient_bytes
  from public.settlement_hourly
 group by recipient, chain, date_trunc('day', hour, 'UTC'), overload;

create view directory.agent_settlements_daily as
select v.fid, h.chain, date_trunc('day', h.hour, 'UTC') as day, not h.overload as counted,
       sum(h.n)::bigint as settlements, sum(h.amount) * 0.000001 as amount_usdc
  from public.agent a
  join public.verified_address v on v.fid = a.fid and v.ended_at is null
  join public.settlement_hourly h on h.recipient = v.address
 group by v.fid, h.chain, date_trunc('day', h.hour, 'UTC'), h.overload;

create view directory.claims as
select fid, method, nonce, signer, '0x' || encode(proof_sha256, 'hex') as proof_sha256, signed_at, claimed_at,
       verified_addresses, host_link
  from public.claim;

create view directory.specs as
select fid, kind, url, title, version, skills, tools, path_count, domain_verified,
       '0x' || encode(content_sha256, 'hex') as content_sha256, first_seen_at, last_alive_at, last_check_at,
       last_check_status, http_status, latency_ms, consecutive_failures
  from public.agent_spec;

create view directory.chains as
select s.chain, s.chain_id, s.indexed_block, s.indexed_at, s.finalized_block, s.head_block,
       (r.next_block - 1)::int as rolled_up_block, s.updated_at
  from public.chain_state s
  left join public.settlement_rollup r using (chain);

comment on view directory.agents is e'@primaryKey fid\n@name agent\nAgents in the directory, one row each: an account of the social network that holds or held an identity, or was claimed.';
comment on column directory.agents.fid is 'The agent’s id in the social network.';
comment on column directory.agents.handle is 'Handle in the social network; null: none is set.';
comment on column directory.agents.display_name is 'Name to show; null: none is set.';
comment on column directory.agents.bio is 'What the account says of itself.';
comment on column directory.agents.pfp_url is 'Address of the picture, as the account gives it; not checked.';
comment on column directory.agents.oli is 'Label others gave to an address of the agent; null: none.';
comment on column directory.agents.chains is 'Names of the chains on which it holds an identity now, in the order of the chain table.';
comment on column directory.agents.verified_addresses is 'Addresses verified for it now, sorted.';
comment on column directory.agents.claimed is 'Whether somebody proved control of it.';
comment on column directory.agents.claim_method is 'How it was claimed last: eip191, jfs, well-known; null: it is not claimed.';
comment on column directory.agents.claimed_at is 'When it was claimed first; null: it is not claimed.';
comment on column directory.agents.agent_status is 'active: holds an identity now; historical: held one; claimed-only: neither.';
comment on column directory.agents.has_spec is 'Whether a machine-readable description was found on its hosts.';
comment on column directory.agents.has_codehost is 'Whether it is linked to an account of a code host.';
comment on column directory.agents.spec_check_status is 'How looking for descriptions went: unchecked, found, not_found, unreachable, invalid.';
comment on column directory.agents.settlements_30d is 'Settlements to its addresses in the last 30 days, refreshed every minute.';
comment on column directory.agents.settlements_all is 'Settlements to its addresses since the first block, refreshed every minute.';
comment on column directory.agents.last_settlement_at is 'Block time of the newest settlement, refreshed every minute; null: none yet.';
comment on column directory.agents.registered_at is 'When the oldest of its current identities was minted; without one: its oldest ever, or its claim.';
comment on column directory.agents.listed_at is 'When it became an agent: an address of it was verified and held an identity.';
comment on column directory.agents.last_seen_at is 'Newest sign of life: registry event, settlement, message or answer of its host; null: none.';
comment on column directory.agents.changed_at is 'When the directory last changed what it shows of it; settlements and messages are no change.';

comment on view directory.addresses is e'@primaryKey fid,address,verified_at\n@foreignKey (fid) references directory.agents (fid)|@fieldName agent|@foreignFieldName addresses\n@name address\nHistory of verified addresses, of all accounts known, agents or not: one row for each time an address was verified.';
comment on column directory.addresses.fid is 'The agent’s id in the social network.';
comment on column directory.addresses.address is 'The verified address.';
comment on column directory.addresses.verified_at is 'When the account verified it.';
comment on column directory.addresses.ended_at is 'When the verification ended; null: it holds now.';
comment on column directory.addresses.address_bytes is e'@behavior -*\nThe address as bytes: conditions on it use an index, those on the text do not.';

comment on view directory.registrations is e'@primaryKey chain,erc8004_id\n@name registration\nERC-8004 identities as they are now, one row a token, whoever holds it; with what its document was read as.';
comment on column directory.registrations.chain is 'Lowercase name of the chain: ethereum, base, celo, arbitrum, optimism, polygon, gnosis.';
comment on column directory.registrations.erc8004_id is 'Number of the token; 0 is a real one, and some are beyond 64 bits.';
comment on column directory.registrations.owner_address is 'Who holds the token; null: it was burned.';
comment on column directory.registrations.burned is 'Whether the token is gone.';
comment on column directory.registrations.agent_wallet is 'Wallet its metadata names; null: none.';
comment on column directory.registrations.agent_uri is 'URI of its document; null: none, or longer than is kept.';
comment on column directory.registrations.block_number is 'Block of the mint.';
comment on column directory.registrations.tx_hash is 'Transaction of the mint.';
comment on column directory.registrations.deployed_at is 'Block time of the mint.';
comment on column directory.registrations.acquired_at is 'Block time of the last change of hands.';
comment on column directory.registrations.updated_at is 'Block time of the last event of the token.';
comment on column directory.registrations.uri_status is 'How reading the document went: ok, pending, empty, unsupported, unreachable, invalid; null: nobody asked yet.';
comment on column directory.registrations.name is 'Name in the document.';
comment on column directory.registrations.description is 'Description in the document.';
comment on column directory.registrations.image is 'Address of the picture in the document; not checked.';
comment on column directory.registrations.active is 'Whether the document says that the agent is active; null: it does not say.';
comment on column directory.registrations.x402_support is 'Whether the document says that x402 payments are taken; null: it does not say.';

comment on view directory.holdings is e'@primaryKey fid,chain,erc8004_id,acquired_block,acquired_log_index\n@foreignKey (fid) references directory.agents (fid)|@fieldName agent|@foreignFieldName holdings\n@foreignKey (chain, erc8004_id) references directory.registrations (chain, erc8004_id)|@fieldName registration|@foreignFieldName holdings\n@name holding\nTimes at which a verified address of an agent held an identity, past ones included.';
comment on column directory.holdings.fid is 'The agent’s id in the social network.';
comment on column directory.holdings.chain is 'Lowercase name of the chain: ethereum, base, celo, arbitrum, optimism, polygon, gnosis.';
comment on column directory.holdings.erc8004_id is 'Number of the token.';
comment on column directory.holdings.held_by is 'The verified address that holds or held it.';
comment on column directory.holdings.acquired_block is 'Block of the transfer that brought it.';
comment on column directory.holdings.acquired_log_index is 'Log index of that transfer.';
comment on column directory.holdings.acquired_at is 'Block time of that transfer.';
comment on column directory.holdings.released_block is 'Block of the transfer that took it; null: none did.';
comment on column directory.holdings.released_at is 'When the holding ended; null: it is current.';
comment on column directory.holdings.released_tx is 'Transaction that took it; null: none did.';
comment on column directory.holdings.transferred_to is 'Who has it next; null: nobody, or it was not transferred.';
comment on column directory.holdings.to_fid is 'Agent id of who has it next, when known.';
comment on column directory.holdings.reason is 'Why the holding ended: transfer, burn, verification_removed; null: it is current.';

comment on view directory.settlements is e'@behavior -*\nAll settlements, whoever was paid. Large: give a chain with a range of blocks, or recipient_bytes.';
comment on column directory.settlements.chain is 'Lowercase name of the chain: ethereum, base, celo, arbitrum, optimism, polygon, gnosis.';
comment on column directory.settlements.block_number is 'Block of the settlement.';
comment on column directory.settlements.log_index is 'Log index in the block; several settlements may share a transaction.';
comment on column directory.settlements.tx_hash is 'The transaction.';
comment on column directory.settlements.block_timestamp is 'Block time.';
comment on column directory.settlements.payer_address is 'Who signed the authorization.';
comment on column directory.settlements.recipient_address is 'Who was paid.';
comment on column directory.settlements.facilitator_address is 'Who sent the transaction.';
comment on column directory.settlements.payment_nonce is 'Nonce of the authorization.';
comment on column directory.settlements.selector is 'Function called: 0xe3ee160e, 0xef55bec6, or an overload of them.';
comment on column directory.settlements.counted is 'Whether it is of one of the two selectors that rankings and counts of the API are made of.';
comment on column directory.settlements.amount is 'Base units of the token: millionths of a dollar.';
comment on column directory.settlements.amount_usdc is 'Dollars, with all six decimals.';
comment on column directory.settlements.token_address is 'The stablecoin’s contract.';
comment on column directory.settlements.recipient_bytes is 'The recipient as bytes: conditions on it use an index, those on the text do not.';

comment on view directory.agent_settlements is e'@primaryKey fid,chain,block_number,log_index\n@foreignKey (fid) references directory.agents (fid)|@fieldName agent|@foreignFieldName settlements\n@name agent_settlement\n@behavior -query:resource:connection -query:resource:list\nSettlements to addresses that an agent verifies now, one row for each agent that was paid. Fast for one fid.';
comment on column directory.agent_settlements.fid is 'The agent’s id in the social network.';
comment on column directory.agent_settlements.chain is 'Lowercase name of the chain: ethereum, base, celo, arbitrum, optimism, polygon, gnosis.';
comment on column directory.agent_settlements.block_number is 'Block of the settlement.';
comment on column directory.agent_settlements.log_index is 'Log index in the block; several settlements may share a transaction.';
comment on column directory.agent_settlements.tx_hash is 'The transaction.';
comment on column directory.agent_settlements.block_timestamp is 'Block time.';
comment on column directory.agent_settlements.payer_address is 'Who signed the authorization.';
comment on column directory.agent_settlements.recipient_address is 'Who was paid.';
comment on column directory.agent_settlements.facilitator_address is 'Who sent the transaction.';
comment on column directory.agent_settlements.payment_nonce is 'Nonce of the authorization.';
comment on column directory.agent_settlements.selector is 'Function called: 0xe3ee160e, 0xef55bec6, or an overload of them.';
comment on column directory.agent_settlements.counted is 'Whether it is of one of the two selectors that rankings and counts of the API are made of.';
comment on column directory.agent_settlements.amount is 'Base units of the token: millionths of a dollar.';
comment on column directory.agent_settlements.amount_usdc is 'Dollars, with all six decimals.';

comment on view directory.settlements_hourly is e'@behavior -*\nSettlements by recipient, chain and hour, whoever was paid. Final blocks only, up to chains.rolled_up_block, without ranges a backfill is loading.';
comment on column directory.settlements_hourly.chain is 'Lowercase name of the chain: ethereum, base, celo, arbitrum, optimism, polygon, gnosis.';
comment on column directory.settlements_hourly.counted is 'Whether it is of one of the two selectors that rankings and counts of the API are made of.';
comment on column directory.settlements_hourly.settlements is 'Settlements in it.';
comment on column directory.settlements_hourly.amount_usdc is 'Dollars, with all six decimals.';
comment on column directory.settlements_hourly.recipient_address is 'Who was paid.';
comment on column directory.settlements_hourly.hour is 'Beginning of the hour.';
comment on column directory.settlements_hourly.recipient_bytes is 'The recipient as bytes: conditions on it use an index, those on the text do not.';

comment on view directory.settlements_daily is e'@behavior -*\nThe same by UTC day.';
comment on column directory.settlements_daily.chain is 'Lowercase name of the chain: ethereum, base, celo, arbitrum, optimism, polygon, gnosis.';
comment on column directory.settlements_daily.counted is 'Whether it is of one of the two selectors that rankings and counts of the API are made of.';
comment on column directory.settlements_daily.settlements is 'Settlements in it.';
comment on column directory.settlements_daily.amount_usdc is 'Dollars, with all six decimals.';
comment on column directory.settlements_daily.recipient_address is 'Who was paid.';
comment on column directory.settlements_daily.day is 'Beginning of the day, UTC.';
comment on column directory.settlements_daily.recipient_bytes is 'The recipient as bytes: conditions on it use an index, those on the text do not.';

comment on view directory.agent_settlements_daily is e'@primaryKey fid,chain,day,counted\n@foreignKey (fid) references directory.agents (fid)|@fieldName agent|@foreignFieldName dailySettlements\n@name agent_settlement_day\n@behavior -query:resource:connection -query:resource:list\nSettlements to addresses that an agent verifies now, by chain and UTC day. Final blocks only, up to chains.rolled_up_block.';
comment on column directory.agent_settlements_daily.chain is 'Lowercase name of the chain: ethereum, base, celo, arbitrum, optimism, polygon, gnosis.';
comment on column directory.agent_settlements_daily.counted is 'Whether it is of one of the two selectors that rankings and counts of the API are made of.';
comment on column directory.agent_settlements_daily.settlements is 'Settlements in it.';
comment on column directory.agent_settlements_daily.amount_usdc is 'Dollars, with all six decimals.';
comment on column directory.agent_settlements_daily.fid is 'The agent’s id in the social network.';
comment on column directory.agent_settlements_daily.day is 'Beginning of the day, UTC.';

comment on view directory.claims is e'@primaryKey fid,method,nonce\n@foreignKey (fid) references directory.agents (fid)|@fieldName agent|@foreignFieldName claims\n@name claim\nAccepted claims of control, without their proofs.';
comment on column directory.claims.fid is 'The agent’s id in the social network.';
comment on column directory.claims.method is 'eip191, jfs or well-known.';
comment on column directory.claims.nonce is 'Chosen by the claimant; good for one claim.';
comment on column directory.claims.signer is 'Who proved it: an address, an app key or a host.';
comment on column directory.claims.proof_sha256 is 'SHA-256 of the proof as received.';
comment on column directory.claims.signed_at is 'Time in what was signed; null: it has none.';
comment on column directory.claims.claimed_at is 'When the claim was accepted.';
comment on column directory.claims.verified_addresses is 'Addresses verified for the agent at that moment.';
comment on column directory.claims.host_link is 'What linked the host to the agent, for well-known; else null.';

comment on view directory.specs is e'@primaryKey fid,kind,url\n@foreignKey (fid) references directory.agents (fid)|@fieldName agent|@foreignFieldName specs\n@name spec\nMachine-readable descriptions on agents’ own hosts, with their liveness.';
comment on column directory.specs.fid is 'The agent’s id in the social network.';
comment on column directory.specs.kind is 'a2a, mcp, openapi or x402.';
comment on column directory.specs.url is 'Where it lies.';
comment on column directory.specs.title is 'Its title.';
comment on column directory.specs.version is 'The version it gives itself.';
comment on column directory.specs.skills is 'Skills it names.';
comment on column directory.specs.tools is 'Tools it names.';
comment on column directory.specs.path_count is 'Paths it describes; null: the kind has none.';
comment on column directory.specs.domain_verified is 'Whether the host lists a token of the agent as its own.';
comment on column directory.specs.content_sha256 is 'SHA-256 of what was read last; null: nothing yet.';
comment on column directory.specs.first_seen_at is 'When it was looked at first.';
comment on column directory.specs.last_alive_at is 'When it last answered; null: never.';
comment on column directory.specs.last_check_at is 'When it was last looked at.';
comment on column directory.specs.last_check_status is 'What that came to: ok, auth_required, payment_required, not_found, timeout and others.';
comment on column directory.specs.http_status is 'Status of the last answer; null: there was none.';
comment on column directory.specs.latency_ms is 'Milliseconds to the last answer.';
comment on column directory.specs.consecutive_failures is 'Looks without an answer since the last one.';

comment on view directory.chains is e'@primaryKey chain\n@name chain\nHow far each chain is indexed.';
comment on column directory.chains.chain is 'Lowercase name of the chain: ethereum, base, celo, arbitrum, optimism, polygon, gnosis.';
comment on column directory.chains.chain_id is 'EIP-155 id.';
comment on column directory.chains.indexed_block is 'Newest block whose rows are here.';
comment on column directory.chains.indexed_at is 'Time of that block.';
comment on column directory.chains.finalized_block is 'Rows at or below it are never undone.';
comment on column directory.chains.head_block is 'Newest block of the chain as last seen.';
comment on column directory.chains.rolled_up_block is 'Newest block in the hourly and daily views; null: the chain has no settlements.';
comment on column directory.chains.updated_at is 'When this row was last written.';

-- Edges between agents, seen from each of their two ends.
create view directory.edges as
select e.fid, e.peer as peer_fid, e.kind, e.direction, e.chain, e.weight, e.amount * 0.000001 as amount_usdc,
       e.first_seen_at, e.last_seen_at
  from public.agent_edge e
 where exists (select from public.agent a where a.fid = e.peer)
 union all
select e.peer, e.fid, e.kind, case e.direction when 'out' then 'in' when 'in' then 'out' else e.direction end, e.chain,
       e.weight, e.amount * 0.000001, e.first_seen_at, e.last_seen_at
  from public.agent_edge e
 where exists (select from public.agent a where a.fid = e.fid);

comment on view directory.edges is e'@foreignKey (fid) references directory.agents (fid)|@fieldName agent|@foreignFieldName edges\n@foreignKey (peer_fid) references directory.agents (fid)|@fieldName peer|@foreignFieldName edgesAsPeer\n@name edge\n@behavior -query:resource:connection -query:resource:list\nTies between agents, seen from each of their two ends. Agents that follow each other have a row out and a row in.';
comment on column directory.edges.fid is 'The agent’s id in the social network.';
comment on column directory.edges.peer_fid is 'Agent at the other end.';
comment on column directory.edges.kind is 'follows, feedback, settlement, shared_owner, shared_wallet, shared_host or transfer.';
comment on column directory.edges.direction is 'Seen from fid: out, in, or both.';
comment on column directory.edges.chain is 'Lowercase name of the chain; null: the edge is of none.';
comment on column directory.edges.weight is 'How often: settlements, feedbacks, tokens; 1 where nothing is counted.';
comment on column directory.edges.amount_usdc is 'Dollars settled; null for other kinds.';
comment on column directory.edges.first_seen_at is 'When the edge was first seen; null: unknown.';
comment on column directory.edges.last_seen_at is 'When it was last seen; null: unknown.';

-- The reader: these views alone, read only. A user who may not create roles gets the schema without it and is told.
do $$
begin
  if not exists (select from pg_roles where rolname = 'directory_reader') then
    create role directory_reader login connection limit 20;
    alter role directory_reader set statement_timeout = '10s';
    alter role directory_reader set idle_in_transaction_session_timeout = '30s';
    alter role directory_reader set default_transaction_read_only = on;
    alter role directory_reader set work_mem = '16MB';
    alter role directory_reader set search_path = directory;
  end if;
exception
  when duplicate_object or unique_violation then null; -- another database of this server made it just now
  when insufficient_privilege then
    raise notice 'role directory_reader was not created: % may not; docs/sql.md says how an administrator adds it', current_user;
end $$;

-- Run again by whoever migrates once an administrator has made the role. It covers views of later versions as well.
create or replace function directory.grant_reader() returns boolean language plpgsql as $$
begin
  if not exists (select from pg_roles where rolname = 'directory_reader') then return false; end if;
  grant usage on schema directory to directory_reader;
  grant select on all tables in schema directory to directory_reader;
  alter default privileges in schema directory grant select on tables to directory_reader;
  return true;
end $$;
comment on function directory.grant_reader() is e'@behavior -*\nLets directory_reader read the views; false: there is no such role yet.';
revoke execute on function directory.grant_reader() from public;
select directory.grant_reader();
