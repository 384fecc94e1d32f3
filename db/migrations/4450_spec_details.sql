-- Details of documents, and which version of the readers read them: those stored are read again.
alter table agent_spec
  add column details jsonb not null default '{}',
  add column reader int not null default 0;
