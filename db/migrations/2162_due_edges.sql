-- Agents whose edges, or whose neighbours' edges, are to be derived, in the one queue.
drop trigger social_follow_added on social_follow;
drop trigger social_follow_changed on social_follow;
drop trigger social_follow_removed on social_follow;
drop function note_edge_events();
drop trigger settlement_payer_added on settlement_payer;
drop trigger settlement_payer_changed on settlement_payer;
drop trigger settlement_payer_removed on settlement_payer;
drop function note_paid_agents();

create or replace trigger mark_added after insert on agent_change
  referencing new table as moved for each statement execute function mark_due(
    'neighbours', 'select fid from moved',
    'income', 'select fid from moved');
create or replace trigger mark_added after insert on social_follow
  referencing new table as moved for each statement execute function mark_due(
    'neighbours', 'select fid from moved');
create or replace trigger mark_changed after update on social_follow
  referencing new table as moved for each statement execute function mark_due(
    'neighbours', 'select fid from moved');
create or replace trigger mark_removed after delete on social_follow
  referencing old table as moved for each statement execute function mark_due(
    'neighbours', 'select fid from moved');
create or replace trigger mark_added after insert on settlement_payer
  referencing new table as moved for each statement execute function mark_due(
    'neighbours', 'select v.fid from moved join verified_address v on v.address = moved.recipient and v.ended_at is null
     where exists (select from agent a where a.fid = v.fid)
       and exists (select from verified_address p join agent a on a.fid = p.fid
                    where p.address = moved.payer and p.ended_at is null and p.fid <> v.fid)',
    'rings', 'select encode(r.address, ''hex'') from moved join income_reach r on r.payer = moved.payer');
create or replace trigger mark_changed after update on settlement_payer
  referencing new table as moved for each statement execute function mark_due(
    'neighbours', 'select v.fid from moved join verified_address v on v.address = moved.recipient and v.ended_at is null
     where exists (select from agent a where a.fid = v.fid)
       and exists (select from verified_address p join agent a on a.fid = p.fid
                    where p.address = moved.payer and p.ended_at is null and p.fid <> v.fid)',
    'rings', 'select encode(r.address, ''hex'') from moved join income_reach r on r.payer = moved.payer');
create or replace trigger mark_removed after delete on settlement_payer
  referencing old table as moved for each statement execute function mark_due(
    'neighbours', 'select v.fid from moved join verified_address v on v.address = moved.recipient and v.ended_at is null
     where exists (select from agent a where a.fid = v.fid)
       and exists (select from verified_address p join agent a on a.fid = p.fid
                    where p.address = moved.payer and p.ended_at is null and p.fid <> v.fid)',
    'rings', 'select encode(r.address, ''hex'') from moved join income_reach r on r.payer = moved.payer');
