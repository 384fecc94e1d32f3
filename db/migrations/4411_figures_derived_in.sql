-- By which clock figures were derived: one that is set back has windows begin earlier again.
alter table figure_derivation add column derived_in timestamptz not null default '-infinity';
