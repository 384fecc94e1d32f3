-- What agents are derived by, in the one queue: addresses, registrations, agents, and large holders.
drop trigger registration_added on registration;
drop trigger registration_changed on registration;
drop trigger registration_removed on registration;
drop trigger registration_transfer_added on registration_transfer;
drop trigger registration_transfer_removed on registration_transfer;
drop trigger registration_document_added on registration_document;
drop trigger registration_document_changed on registration_document;
drop trigger feedback_added on feedback;
drop trigger feedback_changed on feedback;
drop trigger feedback_removed on feedback;
drop trigger verified_address_added on verified_address;
drop trigger verified_address_changed on verified_address;
drop trigger verified_address_removed on verified_address;
drop trigger custody_reading_added on custody_reading;
drop trigger custody_reading_changed on custody_reading;
drop trigger social_profile_added on social_profile;
drop trigger social_profile_changed on social_profile;
drop trigger claim_added on claim;
drop trigger claim_event_added on claim_event;
drop trigger fid_custody_added on fid_custody;
drop trigger fid_custody_removed on fid_custody;
drop trigger unlisted_added on unlisted;
drop trigger unlisted_removed on unlisted;
drop trigger oli_tag_added on oli_tag;
drop trigger oli_tag_changed on oli_tag;
drop trigger oli_tag_removed on oli_tag;
drop trigger agent_identity_added on agent_identity;
drop trigger agent_identity_changed on agent_identity;
drop trigger agent_identity_removed on agent_identity;
drop trigger codehost_profile_added on codehost_profile;
drop trigger codehost_profile_changed on codehost_profile;
drop trigger codehost_profile_removed on codehost_profile;
drop trigger agent_spec_check_added on agent_spec_check;
drop trigger agent_spec_check_changed on agent_spec_check;
drop function note_agents();
drop function note_agents_gone();
drop function note_tokens();
drop function note_holders();
drop function note_verified_addresses();
drop function note_custody();
drop function note_claim_events();

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
