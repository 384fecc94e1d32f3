-- How what documents describe answers. Null until a document is checked again, which counts as before.
alter table agent_spec
  add column answers text,
  add column answers_since timestamptz,
  add column answers_ms int;
alter table spec_probe add column answers text;
