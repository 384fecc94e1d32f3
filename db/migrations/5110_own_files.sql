-- Registrations whose file was read at the address that they have now, and lists them: what lies there speaks for them.
-- Anybody may write any address into the registry.
create view own_file as
select r.chain, r.agent_id, r.agent_uri
  from registration r
  join registration_document d using (chain, agent_id)
 where d.uri_status = 'ok' and d.uri_sha256 = uri_sha256(r) and d.tried_uri_sha256 = d.uri_sha256
   and d.registrations::jsonb @> jsonb_build_array(jsonb_build_object('chain', r.chain, 'agentId', r.agent_id::text));

-- The registration that each offer is held against, of those that its agent holds now and was not just sent: the one that the
-- offer names, as anybody can name another's, else the first of 200 by whether its own file lies on the origin of the
-- endpoint, and whether it is on the chain of the offer. They are looked through once for an agent, whatever it sells. Without
-- an agent_id: there is none. `origin`: that of the document; null: what is sold lies elsewhere, for which a document does not
-- speak. `on_own_host`: a document there is proven to be the agent's.
create or replace view offer_agent as
select f.fid, o.kind, o.url, o.place, o.price, o.pay_to, o.named, o.origin,
       coalesce(n.chain, o.one->>'chain') as agent_chain,
       coalesce(n.agent_id, (o.one->>'agent_id')::numeric(78, 0)) as agent_id,
       coalesce(n.agent_uri, o.one->>'agent_uri') as agent_uri,
       o.on_own_host
  from agent f
 cross join lateral (
   select (select jsonb_object_agg(best.key, best.one)
             from (select distinct on (key)
                          key, jsonb_build_object('chain', h.chain, 'agent_id', h.agent_id,
                                                  'agent_uri', case when h.origin is not null then h.agent_uri end) as one
                     from (select held.chain, held.agent_id, left(r.agent_uri, 2048) as agent_uri, -- longer: no addresses
                                  url_origin(left(r.agent_uri, 2048)) as origin
                             from (select chain, agent_id from agent_holding
                                    where fid = f.fid and reason is null and not unsolicited
                                    order by chain, agent_id limit 200) held
                             left join own_file r using (chain, agent_id)
                           offset 0) h
                    cross join lateral unnest(array[h.origin || ' ' || h.chain, h.origin, h.chain, '']) as key
                    where key is not null
                    order by key, chain_id_of(h.chain), h.agent_id) best) as held,
          array(select distinct url_origin(url) from agent_spec where fid = f.fid and domain_verified) as hosts
   offset 0
 ) known
 cross join lateral (
   select s.kind, s.url, p.place::int as place, p.price, p.price->>'payTo' as pay_to, p.price->>'agent' as named, at.origin,
          case when p.price->>'agent' is null
               then coalesce(known.held->(at.origin || ' ' || (p.price->>'chain')), known.held->at.origin,
                             known.held->(p.price->>'chain'), known.held->'') end as one,
          coalesce(at.origin = any (known.hosts), false) as on_own_host
     from agent_spec s
    cross join lateral jsonb_array_elements(s.prices) with ordinality as p (price, place)
    cross join lateral (
      select case when p.price->>'resource' ~* '^https?://' is not true
                    or url_origin(p.price->>'resource') = url_origin(s.url) then url_origin(s.url) end as origin
    ) at
    where s.fid = f.fid
   offset 0
 ) o
  left join lateral (
    select h.chain, h.agent_id, left(r.agent_uri, 2048) as agent_uri
      from agent_holding h
      left join own_file r using (chain, agent_id)
     where h.fid = f.fid and h.reason is null and not h.unsolicited and h.chain = split_part(o.named, ':', 1)
       and h.agent_id = case when o.named ~ '^[a-z0-9-]+:[0-9]{1,78}$' then split_part(o.named, ':', 2)::numeric end
     limit 1
  ) n on true;
