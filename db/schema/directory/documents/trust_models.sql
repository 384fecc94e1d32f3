create or replace view directory.trust_models as
select d.chain, d.agent_id as erc8004_id, t.place::int as place, t.model
  from public.registration_document d
 cross join lateral json_array_elements_text(d.supported_trust) with ordinality as t (model, place);

comment on view directory.trust_models is e'@behavior -*\nTrust models that the documents of registrations claim to support.';
comment on column directory.trust_models.chain is 'Lowercase name of the chain.';
comment on column directory.trust_models.erc8004_id is 'Number of the registration.';
comment on column directory.trust_models.place is 'Place in the document, from 1.';
comment on column directory.trust_models.model is 'As written: reputation, crypto-economic and others.';
