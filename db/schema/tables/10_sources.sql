-- What sources besides the chains say, each written by its source alone, and when each is read.

-- Queue and memory of every source: the lease is folded into due_at, so leased rows leave the head of the index.
create table source_state (
  -- socialindex, agent_uri, explorer, identity, codehost, spec_discovery; of the social network also social_shards,
  -- social_events, social_sweep, social_lookup
  source text not null,
  subject text not null,                -- fid:123, address:0x..., token:base:12, shard:1
  due_at timestamptz not null,
  priority smallint not null default 0, -- 2 just claimed or new holder, 1 viewed and stale, 0 the rest
  lease_id uuid,
  last_attempt_at timestamptz,
  last_success_at timestamptz,
  last_outcome text,
  failures int not null default 0,
  last_error text,                      -- of the last failed attempt, for whoever has to find out why; gone with the next answer
  primary key (source, subject)
);
create index source_state_due on source_state (source, priority desc, due_at);
create index source_state_subject on source_state (subject);

-- How far a stream or a sweep has been applied; saved in the transaction that applies the page.
create table source_cursor (
  source text not null,
  shard text not null,
  position text not null,
  updated_at timestamptz not null,
  reached_at timestamptz, -- of a stream: up to when its events are applied; of a sweep: when it was last through
  primary key (source, shard)
);

-- Requests to hosts that count them by the day, and their wishes to be left alone: for all processes, and the next one.
create table host_budget (
  host text primary key,
  day date not null,
  spent int not null,
  rests_until timestamptz,
  next_at timestamptz -- when the next request may go out: processes of the job share one pace
);

-- What there was to ask a source about an agent when it was last asked for, and what edges of others to it depended on when
-- they were last looked at: another digest asks, or looks, again.
create table agent_input (
  fid bigint not null,
  source text not null, -- or edges
  digest uuid not null,
  primary key (fid, source)
);

-- What chains said, at a final block, of who may act for a registration; written by its source alone. An account is what an
-- address is there, a name one of ENS that the registration's document claims.
create table control_reading (
  chain text not null,
  agent_id numeric(78, 0) not null,
  input uuid not null,       -- digest of what was asked
  read_at timestamptz not null,
  accounts json not null,    -- [{address, kind, code_hash, delegate, owners, owners_total, threshold, modules, token, block_number, block_timestamp}]
  names json not null,       -- [{name, status, block_number, block_timestamp}]
  binding bytea,             -- contract that holds it and that its metadata names (draft ERC-8217); null: none
  binding_status text,       -- verified, unverified, not_checked
  binding_standard text,     -- erc721, erc1155, erc6909
  token_contract bytea,      -- of the token that it is bound to
  token_id numeric(78, 0),
  master bytea,              -- who holds that token
  binding_block int,
  binding_block_at timestamptz,
  primary key (chain, agent_id)
);
-- Anybody can bind any number of registrations to a token: the first ones of its holder.
create index control_reading_bound on control_reading (master, chain, agent_id) where binding_status = 'verified';

create table oli_tag (
  fid bigint not null,
  address bytea not null,
  source text not null,            -- blockscout, oli
  chain text,                      -- null: holds on every chain
  slug text not null,
  name text not null,
  tag_type text not null,
  ordinal int,
  meta json,
  attester bytea,                  -- of an attestation
  fetched_at timestamptz not null, -- when it was first read as it is
  unique nulls not distinct (fid, source, address, chain, slug, tag_type, attester)
);
-- Agents by the tags on their addresses.
create index oli_tag_slug on oli_tag (lower(slug));
create index oli_tag_name on oli_tag (lower(name));

create table agent_identity (
  fid bigint not null,
  platform text not null,
  identity text not null,
  display_name text,
  address text,
  url text,
  avatar_url text,
  description text,
  sources text[] not null,         -- who says so; empty: the identity itself does
  follower_count bigint,
  fetched_at timestamptz not null, -- as above
  primary key (fid, platform, identity)
);

create table codehost_profile (
  fid bigint primary key,
  asked_login text not null,      -- whom the agent names; `login` is how the host writes it
  login text not null,
  user_id bigint not null,
  type text,
  name text,
  url text,
  avatar_url text,
  blog text,
  bio text,
  followers bigint,
  following bigint,
  public_repos bigint,
  total_stars bigint,
  top_languages text[] not null,
  account_created_at timestamptz,
  last_push_at timestamptz,
  verified boolean not null,      -- the account names the agent as well
  source text not null,           -- where the agent names it: socialindex, identity, registration
  user_etag text,                 -- of the two answers
  repositories_etag text,
  fetched_at timestamptz not null -- as above
);

-- Machine-readable documents on agents' own hosts, with the history of their checks.
create table agent_spec (
  fid bigint not null,
  kind text not null,                       -- a2a, mcp, openapi, web, x402
  url text not null,
  declared boolean not null,                -- named by a registration; else found where such documents usually lie
  has_content boolean not null,             -- a document was read here once
  title text,
  version text,
  skills text[] not null,
  tools text[] not null,
  path_count int,
  content_sha256 bytea,
  etag text,                                -- of the content
  last_modified text,
  domain_verified boolean not null,         -- the host lists a token of the agent as its own
  first_seen_at timestamptz not null,
  last_alive_at timestamptz,
  last_check_at timestamptz not null,
  last_check_status text not null,
  http_status int,
  latency_ms int,
  consecutive_failures int not null,
  -- Of an A2A card: whether a key of its own origin signed it. Null: another kind of document, or not looked at yet.
  card_signature text check (card_signature in ('valid', 'invalid', 'untrusted', 'none')),
  -- What an MCP server says of itself when it is asked. Null and empty: a document that is read and not asked.
  protocol_version text,                    -- revision that was agreed on
  tool_hashes text[] not null default '{}', -- SHA-256 of each definition, as `tools`
  tools_changed_at timestamptz,             -- when one was last seen changed behind the same name
  -- Whether the host of a document, and the registration file that names it, list a registration of this agent. Null: not
  -- known yet.
  back_reference text check (back_reference in ('confirmed', 'missing', 'contradicted')),
  -- What the documents on an agent's hosts, and the challenges of its endpoints, say that it asks for: a list of at most 20
  -- objects {resource, description, scheme, network, chain, asset, amount, payTo, minUsd, maxUsd}, every member a text or
  -- null, and where they are told {currency, testnet: true, agent, signedUntil, signedBy}. It is what strangers say, and no income.
  prices jsonb not null default '[]',
  -- What else the document says (SpecDetails): lists of `interfaces`, `skills` and `security`, and in `truncated`, by list, of
  -- how many entries not all are kept. A member that is absent is empty.
  details jsonb not null default '{}',
  reader int not null default 0,            -- version of the readers that read it; a later one reads it again
  -- What it says of what it sells, besides prices: a list of at most 20 objects {resource, service_name, tags, icon_url,
  -- route_template, input, output, schema, left_out}. As with prices, it is what strangers say.
  resources jsonb not null default '[]',
  truncated jsonb not null default '{}',    -- of prices and resources, where not all are kept: at least how many there are
  findings jsonb not null default '[]',     -- what keeps others from it: at most 30 objects {code, detail, since}, codes of net/findings.ts
  -- How what it describes answered a harmless request of its own protocol: as last_check_status, or not_asked; since when
  -- so; milliseconds. Null: nobody has asked.
  answers text,
  answers_since timestamptz,
  answers_ms int,
  chain_blocks jsonb not null default '[]', -- blocks that chains were asked at about its demand: objects {chain, number, time}
  primary key (fid, kind, url)
);
-- Whose an endpoint is, by its own address and by those that prices name.
create index agent_spec_url on agent_spec using hash (url);
create index agent_spec_prices on agent_spec using gin (prices jsonb_path_ops);
-- Words by which an agent is found that sells something: names of services and tags that its document says, lowercase.
create function sold_words(resources jsonb) returns text[] language sql immutable parallel safe as $$
  select array(select distinct lower(word)
                 from jsonb_array_elements(resources) sold
                cross join lateral (select sold->>'service_name' union all
                                    select jsonb_array_elements_text(sold->'tags')) said (word)
                where word is not null)
$$;
create index agent_spec_sold on agent_spec using gin (sold_words(resources));

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

-- Registrations whose file was read at the address that they have now, and lists them: what lies there speaks for them.
-- Anybody may write any address into the registry, and an address that leads elsewhere says nothing of its own host.
create view own_file as
select r.chain, r.agent_id, r.agent_uri
  from registration r
  join registration_document d using (chain, agent_id)
 where d.uri_status = 'ok' and d.uri_sha256 = uri_sha256(r) and d.tried_uri_sha256 = d.uri_sha256
   and d.own_origin
   and d.registrations::jsonb @> jsonb_build_array(jsonb_build_object('chain', r.chain, 'agentId', r.agent_id::text));

-- The registration that each offer is held against, of those that its agent holds now and was not just sent: the one that the
-- offer names, as anybody can name another's, else the first of 200 by whether its own file lies on the origin of the
-- endpoint, and whether it is on the chain of the offer. They are looked through once for an agent, whatever it sells. Without
-- an agent_id: there is none. `origin`: that of the document; null: what is sold lies elsewhere, for which a document does not
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

create table agent_spec_check (
  fid bigint primary key,
  spec_check_status text not null, -- found, not_found, unreachable, invalid
  checked_at timestamptz not null,
  -- Of what the look was at only a part: hosts, places, registrations, documents, with at least how many there are.
  truncated jsonb not null default '{}'
);

-- Every check of a document on an agent's host, for a week, and its days, for a quarter. Who writes a check takes away
-- what is too old of the same agent, so that nothing has to be cleaned up separately.
create table spec_probe (
  fid bigint not null,
  checked_at timestamptz not null,
  kind text not null,   -- as agent_spec
  url text not null,
  alive boolean not null,
  status text not null, -- as agent_spec.last_check_status
  http_status int,
  latency_ms int,
  answers text,         -- as agent_spec
  findings jsonb not null default '[]',     -- as agent_spec, at this check
  chain_blocks jsonb not null default '[]',
  primary key (fid, checked_at, kind, url)
);

create table spec_day (
  fid bigint not null,
  day date not null, -- UTC
  kind text not null,
  url text not null,
  checks int not null,
  alive int not null,
  latency_ms int,    -- median of the checks that found it alive; null: none was answered
  primary key (fid, day, kind, url)
);
