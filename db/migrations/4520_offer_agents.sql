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

-- The registration that each offer is held against: the one that the offer names, else one that its agent holds, first one
-- whose file lies on the origin of the endpoint. Without an agent_id: none is held, or the one that is named is not indexed.
create view offer_agent as
select o.*, a.chain as agent_chain, a.agent_id, a.agent_uri
  from (select s.fid, s.kind, s.url, p.place::int as place, p.price, p.price->>'payTo' as pay_to, p.price->>'agent' as named,
               url_origin(case when p.price->>'resource' ~* '^https?://' then p.price->>'resource' else s.url end) as origin
          from agent_spec s
         cross join lateral jsonb_array_elements(s.prices) with ordinality as p (price, place)) o
  left join lateral (
    select r.chain, r.agent_id, left(r.agent_uri, 2048) as agent_uri -- longer ones are no addresses
      from registration r
     where r.chain = split_part(o.named, ':', 1)
       and r.agent_id = case when o.named ~ '^[a-z0-9-]+:[0-9]{1,78}$' then split_part(o.named, ':', 2)::numeric end
     union all
   (select h.chain, h.agent_id, left(r.agent_uri, 2048)
      from (select chain, agent_id from agent_holding
             where fid = o.fid and reason is null and not unsolicited and o.named is null
             order by chain, agent_id limit 200) h
      join registration r using (chain, agent_id)
     order by starts_with(lower(left(r.agent_uri, 2048)) || '/', o.origin || '/') desc nulls last, h.chain = o.price->>'chain' desc nulls last,
              chain_id_of(h.chain), h.agent_id
     limit 1)
  ) a on true;
