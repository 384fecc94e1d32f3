-- When a document was read last that is stored as it is: what is settled is not asked for again, and leaves no other trace.
alter table registration_document add column read_at timestamptz;
-- Nobody has to be derived again for it.
alter table registration_document disable trigger user;
update registration_document set read_at = updated_at where uri_status = 'ok';
alter table registration_document enable trigger user;
