-- An event takes its place and moves its claim by one trigger.
drop trigger claim_event_apply on claim_event;
drop function apply_claim_event();
create or replace function seal_claim_event() returns trigger language plpgsql as $$
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
