-- Claims of control, written by the API, and what becomes of them. `claim` says how each stands, `claim_event` how it came
-- to that: appended to and never changed.

create table claim (
  fid bigint not null,
  method text not null,               -- eip191, jfs, well-known
  nonce text not null,
  proof json not null,                -- as received
  proof_sha256 bytea not null,
  signer text not null,               -- address, app key or host
  signed_at timestamptz,
  received_at timestamptz not null,
  claimed_at timestamptz not null default now(),
  verified_addresses text[] not null, -- snapshot
  host_link text,                     -- well-known: what linked the host to the fid
  -- What the claimant was told: a replay is answered with it, whatever became of the agent since.
  agent_status text not null default 'claimed-only', -- active, historical, claimed-only
  -- A manifest is one claim, however often it is fetched and whatever nonce is sent next to it. Null: a claim by signature.
  manifest_sha256 bytea,
  state text not null default 'live' check (state in ('live', 'suspended', 'ended')),
  checked_at timestamptz,             -- when all its checks held last; null: not since it was accepted
  ended_at timestamptz,
  end_reason text,
  -- What others need to check `host_link`. Null: no link was needed.
  host_link_evidence json,
  primary key (fid, method, nonce)
);
create unique index claim_manifest on claim (fid, signer, manifest_sha256) where manifest_sha256 is not null;
create index claim_standing on claim (fid) where state <> 'ended';

create table claim_event (
  fid bigint not null,
  seq int not null,        -- 1, 2, 3 … of the fid
  method text not null,
  nonce text not null,
  kind text not null check (kind in ('claimed', 'suspended', 'resumed', 'ended')),
  at timestamptz not null, -- later than that of the event before
  evidence json not null,  -- canonical (RFC 8785)
  previous bytea,          -- sha256 of the fid's event before; null: this is the first
  sha256 bytea not null,   -- of all the other fields, as canonical JSON
  primary key (fid, seq)
);
create index claim_event_claim on claim_event (fid, method, nonce, seq);
create trigger claim_event_kept before update or delete or truncate on claim_event
  for each statement execute function refuse_change();

-- Gives an event its place in the chain of its fid, and its claim what the event says; writers of one fid wait for each other
-- until they end.
create function seal_claim_event() returns trigger language plpgsql as $$
declare
  last claim_event;
begin
  perform pg_advisory_xact_lock(8010, hashint8(new.fid));
  select * into last from claim_event where fid = new.fid order by seq desc limit 1;
  new.seq := coalesce(last.seq, 0) + 1;
  new.previous := last.sha256;
  new.at := greatest(date_trunc('milliseconds', new.at), last.at + interval '1 millisecond');
  new.sha256 := sha256(convert_to(format(
    '{"at":"%s","evidence":%s,"fid":%s,"kind":"%s","method":"%s","nonce":"%s","previous":%s,"seq":%s}',
    to_char(new.at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), new.evidence, new.fid, new.kind, new.method,
    new.nonce, coalesce('"' || encode(new.previous, 'hex') || '"', 'null'), new.seq), 'UTF8'));
  update claim
     set state = case new.kind when 'suspended' then 'suspended' when 'ended' then 'ended' else 'live' end,
         claimed_at = case new.kind when 'claimed' then new.at else claimed_at end,
         ended_at = case new.kind when 'ended' then new.at end,
         end_reason = case new.kind when 'ended' then new.evidence ->> 'reason' end
   where fid = new.fid and method = new.method and nonce = new.nonce and state <> 'ended';
  if not found then
    raise exception 'no standing claim % % of fid % for an event', new.method, new.nonce, new.fid;
  end if;
  return new;
end $$;
create trigger claim_event_seal before insert on claim_event
  for each row execute function seal_claim_event();

-- What owners said about their claims besides claiming: withdrawals, and that they want to be listed or not.
create table claim_action (
  fid bigint not null,
  action text not null check (action in ('withdraw', 'unlist', 'relist')),
  method text not null,        -- eip191, jfs, well-known
  nonce text not null,
  proof json not null,         -- as received
  proof_sha256 bytea not null,
  manifest_sha256 bytea,       -- well-known: of the manifest as fetched
  signer text not null,        -- address, app key or host
  by_custody boolean not null, -- signed by the custody address
  signed_at timestamptz,
  accepted_at timestamptz not null,
  answer json not null,        -- a replay is answered with it
  -- True: by a host that nothing links to the account: it ended its own claims alone, and neither counts nor dates others. Null: not.
  unlinked boolean,
  primary key (fid, action, method, nonce)
);
create unique index claim_action_manifest on claim_action (fid, action, signer, manifest_sha256)
  where manifest_sha256 is not null;

-- Accounts that want to be no agents here. What lies on a chain stays there; what joined it with them goes.
create table unlisted (
  fid bigint primary key,
  since timestamptz not null
);
