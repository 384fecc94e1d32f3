-- What becomes of a claim. `claim` says how each stands, `claim_event` how it came to that: appended to and never changed.
alter table claim
  add column state text not null default 'live' check (state in ('live', 'suspended', 'ended')),
  add column checked_at timestamptz,       -- when all its checks held last; null: not since it was accepted
  add column ended_at timestamptz,
  add column end_reason text;
create index claim_standing on claim (fid) where state <> 'ended';

create table claim_event (
  fid bigint not null,
  seq int not null,                        -- 1, 2, 3 … of the fid
  method text not null,
  nonce text not null,
  kind text not null check (kind in ('claimed', 'suspended', 'resumed', 'ended')),
  at timestamptz not null,                 -- later than that of the event before
  evidence json not null,                  -- canonical (RFC 8785)
  previous bytea,                          -- sha256 of the fid's event before; null: this is the first
  sha256 bytea not null,                   -- of all the other fields, as canonical JSON
  primary key (fid, seq)
);
create index claim_event_claim on claim_event (fid, method, nonce, seq);

-- Gives an event its place in the chain of its fid; writers of one fid wait for each other until they end.
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
  return new;
end $$;
create trigger claim_event_seal before insert on claim_event
  for each row execute function seal_claim_event();

create function apply_claim_event() returns trigger language plpgsql as $$
begin
  update claim
     set state = case new.kind when 'suspended' then 'suspended' when 'ended' then 'ended' else 'live' end,
         claimed_at = case new.kind when 'claimed' then new.at else claimed_at end,
         ended_at = case new.kind when 'ended' then new.at end,
         end_reason = case new.kind when 'ended' then new.evidence ->> 'reason' end
   where fid = new.fid and method = new.method and nonce = new.nonce and state <> 'ended';
  if not found then
    raise exception 'no standing claim % % of fid % for an event', new.method, new.nonce, new.fid;
  end if;
  return null;
end $$;
create trigger claim_event_apply after insert on claim_event
  for each row execute function apply_claim_event();
-- A new claim notes its agent by itself.
create function note_claim_events() returns trigger language plpgsql as $$
begin
  insert into agent_event (fid) select distinct fid from added where kind <> 'claimed';
  return null;
end $$;
create trigger claim_event_added after insert on claim_event
  referencing new table as added for each statement execute function note_claim_events();

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is appended to and never changed', tg_table_name;
end $$;
create trigger claim_event_kept before update or delete or truncate on claim_event
  for each statement execute function refuse_change();

-- How the claims of an agent stand, and the newest hash of their chain: a mirror that keeps it notices a changed past.
alter table agent
  add column claim_state text,             -- live, suspended; null: not claimed
  add column claim_sha256 bytea;           -- null: never claimed

-- Claims of before have their first event now.
insert into claim_event (fid, method, nonce, kind, at, evidence)
select fid, method, nonce, 'claimed', claimed_at, ('{"proof_sha256":"' || encode(proof_sha256, 'hex') || '"}')::json
  from claim order by fid, claimed_at, method, nonce;
insert into agent_event (fid) select distinct fid from claim;
