-- What documents say of what they sell. Stored documents are read again, as the readers have a new version.
alter table agent_spec
  add column resources jsonb not null default '[]',
  add column truncated jsonb not null default '{}';
