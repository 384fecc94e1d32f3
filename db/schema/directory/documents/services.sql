create or replace view directory.services as
select d.chain, d.agent_id as erc8004_id, s.place::int as place, s.service->>'name' as name,
       s.service->>'endpoint' as endpoint, s.service->>'version' as version
  from public.registration_document d
 cross join lateral json_array_elements(d.services) with ordinality as s (service, place);

comment on view directory.services is e'@behavior -*\nServices that the documents of registrations name, in their order.';
comment on column directory.services.chain is 'Lowercase name of the chain.';
comment on column directory.services.erc8004_id is 'Number of the registration.';
comment on column directory.services.place is 'Place in the document, from 1.';
comment on column directory.services.name is 'What it calls itself: A2A, MCP, web and others, as written.';
comment on column directory.services.endpoint is 'Where it is, as written; not checked.';
comment on column directory.services.version is 'Version of the protocol, as written.';
