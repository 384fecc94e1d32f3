create or replace view directory.identities as
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
