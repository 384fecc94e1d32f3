-- What offers are held against, so that SQL, prices and the check of a payee say the same.
-- Scheme, host and port of an address in lowercase; null: it has none.
create function url_origin(url text) returns text language sql immutable parallel safe
  return substring(lower(url) from '^https?://[^/?#]+');

-- Outcome of the draft ERC-8478 for an address that wants to be paid, by its conditions in the order in which they are
-- looked at: what could not be read comes before what was found. `is_read`: owner and wallet of the agent are known.
create function payee_outcome(pay_to text, has_agent boolean, is_read boolean, is_tied boolean, wallet text, owner text)
returns text language sql immutable parallel safe
  return case
    when not has_agent then 'no-identity'
    when pay_to is null or not is_read then 'not-read'
    when not is_tied then 'endpoint-unlisted'
    when pay_to !~ '^0x[0-9a-f]{40}$' then 'not-read' -- an account of another kind of chain: no registry names one
    when pay_to = wallet then 'verified-wallet'
    when pay_to = owner then 'owner-only'
    when wallet is null then 'no-agent-wallet'
    else 'mismatch'
  end;

-- The registration that each offer is held against, of those that its agent holds now and was not just sent: the one that the
-- offer names, as anybody can name another's, else the first of 200 by whether its file lies on the origin of the endpoint,
-- and whether it is on the chain of the offer. They are looked through once for an agent, whatever it sells. Without an
-- agent_id: there is none. `origin`: that of the document; null: what is sold lies elsewhere, for which a document does not
-- speak. `on_own_host`: a document there is proven to be the agent's.
create view offer_agent as
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
                     from (select r.chain, r.agent_id, left(r.agent_uri, 2048) as agent_uri, -- longer ones are no addresses
                                  url_origin(left(r.agent_uri, 2048)) as origin
                             from (select chain, agent_id from agent_holding
                                    where fid = f.fid and reason is null and not unsolicited
                                    order by chain, agent_id limit 200) held
                             join registration r using (chain, agent_id)
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
    select r.chain, r.agent_id, left(r.agent_uri, 2048) as agent_uri
      from agent_holding h
      join registration r using (chain, agent_id)
     where h.fid = f.fid and h.reason is null and not h.unsolicited and h.chain = split_part(o.named, ':', 1)
       and h.agent_id = case when o.named ~ '^[a-z0-9-]+:[0-9]{1,78}$' then split_part(o.named, ':', 2)::numeric end
     limit 1
  ) n on true;
