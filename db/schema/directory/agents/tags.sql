create or replace view directory.tags as
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
