-- Which rows make which keys due: the marks of derive/derivations.ts. Written by the test of them, and never by hand:
-- npx vitest run test/derive/marks.test.ts -u

create trigger mark_added after insert on registration_transfer
  referencing new table as moved for each statement execute function mark_due(
    'holders', 'select encode(side.address, ''hex'') from moved cross join lateral (values (moved."from"), (moved."to")) as side (address) where side.address is not null');
create trigger mark_removed after delete on registration_transfer
  referencing old table as moved for each statement execute function mark_due(
    'holders', 'select encode(side.address, ''hex'') from moved cross join lateral (values (moved."from"), (moved."to")) as side (address) where side.address is not null');

create trigger mark_added after insert on verified_address
  referencing new table as moved for each statement execute function mark_due(
    'holders', 'select encode(address, ''hex'') from moved');
create trigger mark_changed after update on verified_address
  referencing new table as moved for each statement execute function mark_due(
    'holders', 'select encode(address, ''hex'') from moved');
create trigger mark_removed after delete on verified_address
  referencing old table as moved for each statement execute function mark_due(
    'holders', 'select encode(address, ''hex'') from moved');

create trigger mark_added after insert on registration
  referencing new table as moved for each statement execute function mark_due(
    'registrations', 'select chain || '':'' || agent_id from moved');
create trigger mark_changed after update on registration
  referencing new table as moved for each statement execute function mark_due(
    'registrations', 'select chain || '':'' || agent_id from moved');
create trigger mark_removed after delete on registration
  referencing old table as moved for each statement execute function mark_due(
    'registrations', 'select chain || '':'' || agent_id from moved');

create trigger mark_added after insert on registration_document
  referencing new table as moved for each statement execute function mark_due(
    'registrations', 'select chain || '':'' || agent_id from moved');
create trigger mark_changed after update on registration_document
  referencing new table as moved for each statement execute function mark_due(
    'registrations', 'select chain || '':'' || agent_id from moved');

create trigger mark_added after insert on feedback
  referencing new table as moved for each statement execute function mark_due(
    'registrations', 'select chain || '':'' || agent_id from moved');
create trigger mark_changed after update on feedback
  referencing new table as moved for each statement execute function mark_due(
    'registrations', 'select chain || '':'' || agent_id from moved');
create trigger mark_removed after delete on feedback
  referencing old table as moved for each statement execute function mark_due(
    'registrations', 'select chain || '':'' || agent_id from moved');

create trigger mark_added after insert on social_profile
  referencing new table as moved for each statement execute function mark_due(
    'agents', 'select fid from moved');
create trigger mark_changed after update on social_profile
  referencing new table as moved for each statement execute function mark_due(
    'agents', 'select fid from moved');

create trigger mark_added after insert on claim
  referencing new table as moved for each statement execute function mark_due(
    'agents', 'select fid from moved');

create trigger mark_added after insert on claim_event
  referencing new table as moved for each statement execute function mark_due(
    'agents', 'select fid from moved where kind <> ''claimed''');

create trigger mark_added after insert on custody_reading
  referencing new table as moved for each statement execute function mark_due(
    'agents', 'select fid from moved');
create trigger mark_changed after update on custody_reading
  referencing new table as moved for each statement execute function mark_due(
    'agents', 'select fid from moved');

create trigger mark_added after insert on fid_custody
  referencing new table as moved for each statement execute function mark_due(
    'agents', 'select fid from moved where exists (select from claim c where c.fid = moved.fid and c.state <> ''ended'')
        or exists (select from social_profile p where p.fid = moved.fid and p.handle_owner is not null)');
create trigger mark_removed after delete on fid_custody
  referencing old table as moved for each statement execute function mark_due(
    'agents', 'select fid from moved where exists (select from claim c where c.fid = moved.fid and c.state <> ''ended'')
        or exists (select from social_profile p where p.fid = moved.fid and p.handle_owner is not null)');

create trigger mark_added after insert on unlisted
  referencing new table as moved for each statement execute function mark_due(
    'agents', 'select fid from moved');
create trigger mark_removed after delete on unlisted
  referencing old table as moved for each statement execute function mark_due(
    'agents', 'select fid from moved');

create trigger mark_added after insert on agent_spec_check
  referencing new table as moved for each statement execute function mark_due(
    'agents', 'select fid from moved');
create trigger mark_changed after update on agent_spec_check
  referencing new table as moved for each statement execute function mark_due(
    'agents', 'select fid from moved');

create trigger mark_added after insert on oli_tag
  referencing new table as moved for each statement execute function mark_due(
    'agents', 'select fid from moved');
create trigger mark_changed after update on oli_tag
  referencing new table as moved for each statement execute function mark_due(
    'agents', 'select fid from moved');
create trigger mark_removed after delete on oli_tag
  referencing old table as moved for each statement execute function mark_due(
    'agents', 'select fid from moved');

create trigger mark_added after insert on agent_identity
  referencing new table as moved for each statement execute function mark_due(
    'agents', 'select fid from moved');
create trigger mark_changed after update on agent_identity
  referencing new table as moved for each statement execute function mark_due(
    'agents', 'select fid from moved');
create trigger mark_removed after delete on agent_identity
  referencing old table as moved for each statement execute function mark_due(
    'agents', 'select fid from moved');

create trigger mark_added after insert on codehost_profile
  referencing new table as moved for each statement execute function mark_due(
    'agents', 'select fid from moved');
create trigger mark_changed after update on codehost_profile
  referencing new table as moved for each statement execute function mark_due(
    'agents', 'select fid from moved');
create trigger mark_removed after delete on codehost_profile
  referencing old table as moved for each statement execute function mark_due(
    'agents', 'select fid from moved');

create trigger mark_added after insert on agent
  referencing new table as moved for each statement execute function mark_due(
    'counts', 'select fid from moved');

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
