-- What chains say of demands for payment, and what each check found. Empty until a document is checked again.
alter table agent_spec add column chain_blocks jsonb not null default '[]';
alter table spec_probe
  add column findings jsonb not null default '[]',
  add column chain_blocks jsonb not null default '[]';
