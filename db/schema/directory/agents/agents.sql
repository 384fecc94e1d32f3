create or replace view directory.agents as
select fid, handle, display_name, bio, pfp_url, oli, chains,
       array(select '0x' || encode(address, 'hex')
               from unnest(verified_addresses) with ordinality as verified (address, place) order by place) as verified_addresses,
       claimed, claim_method, claimed_at, agent_status, has_spec, has_codehost, spec_check_status,
       settlements_30d, settlements_all, last_settlement_at, registered_at, listed_at,
       greatest(registry_event_at, last_settlement_at, last_message_at, last_alive_at) as last_seen_at, changed_at,
       case when handle is not null then coalesce(handle_assurance, 'stated') end as handle_assurance,
       array(select public.chain_label_of(name)
               from unnest(chains) with ordinality as held (name, place) order by place) as chain_labels
  from public.agent;

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
comment on column directory.agents.handle_assurance is 'Who says that the handle is the account’s: proven, the name server for its custody; signed, the name server for an address that it verifies, or a second hub; stated, one hub alone; null: it has none.';
comment on column directory.agents.chain_labels is 'Labels of these chains, in the same order: `chains` of the API’s profiles, lists and filters.';
