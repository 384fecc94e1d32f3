-- Which rows make which keys due: the marks of derive/derivations.ts. Written by the test of them, and never by hand:
-- npx vitest run test/derive/marks.test.ts -u

create trigger mark_added after insert on agent_change
  referencing new table as moved for each statement execute function mark_due(
    'neighbours', 'select fid from moved',
    'income', 'select fid from moved');

create trigger mark_added after insert on social_follow
  referencing new table as moved for each statement execute function mark_due(
    'neighbours', 'select fid from moved');
create trigger mark_changed after update on social_follow
  referencing new table as moved for each statement execute function mark_due(
    'neighbours', 'select fid from moved');
create trigger mark_removed after delete on social_follow
  referencing old table as moved for each statement execute function mark_due(
    'neighbours', 'select fid from moved');

create trigger mark_added after insert on settlement_payer
  referencing new table as moved for each statement execute function mark_due(
    'neighbours', 'select v.fid from moved join verified_address v on v.address = moved.recipient and v.ended_at is null
     where exists (select from agent a where a.fid = v.fid)
       and exists (select from verified_address p join agent a on a.fid = p.fid
                    where p.address = moved.payer and p.ended_at is null and p.fid <> v.fid)',
    'rings', 'select encode(r.address, ''hex'') from moved join income_reach r on r.payer = moved.payer');
create trigger mark_changed after update on settlement_payer
  referencing new table as moved for each statement execute function mark_due(
    'neighbours', 'select v.fid from moved join verified_address v on v.address = moved.recipient and v.ended_at is null
     where exists (select from agent a where a.fid = v.fid)
       and exists (select from verified_address p join agent a on a.fid = p.fid
                    where p.address = moved.payer and p.ended_at is null and p.fid <> v.fid)',
    'rings', 'select encode(r.address, ''hex'') from moved join income_reach r on r.payer = moved.payer');
create trigger mark_removed after delete on settlement_payer
  referencing old table as moved for each statement execute function mark_due(
    'neighbours', 'select v.fid from moved join verified_address v on v.address = moved.recipient and v.ended_at is null
     where exists (select from agent a where a.fid = v.fid)
       and exists (select from verified_address p join agent a on a.fid = p.fid
                    where p.address = moved.payer and p.ended_at is null and p.fid <> v.fid)',
    'rings', 'select encode(r.address, ''hex'') from moved join income_reach r on r.payer = moved.payer');

create trigger mark_added after insert on registration_wallet
  referencing new table as moved for each statement execute function mark_due(
    'wallets', 'select chain || '':'' || agent_id from moved');
create trigger mark_removed after delete on registration_wallet
  referencing old table as moved for each statement execute function mark_due(
    'wallets', 'select chain || '':'' || agent_id from moved');

create trigger mark_added after insert on payment_sum
  referencing new table as moved for each statement execute function mark_due(
    'rings', 'select encode(r.address, ''hex'') from moved join income_reach r on r.payer = moved.payer');
create trigger mark_changed after update on payment_sum
  referencing new table as moved for each statement execute function mark_due(
    'rings', 'select encode(r.address, ''hex'') from moved join income_reach r on r.payer = moved.payer');
create trigger mark_removed after delete on payment_sum
  referencing old table as moved for each statement execute function mark_due(
    'rings', 'select encode(r.address, ''hex'') from moved join income_reach r on r.payer = moved.payer');

create trigger mark_added after insert on income_address
  referencing new table as moved for each statement execute function mark_due(
    'rings', 'select encode(moved.address, ''hex'') from moved');
create trigger mark_removed after delete on income_address
  referencing old table as moved for each statement execute function mark_due(
    'rings', 'select encode(moved.address, ''hex'') from moved');
