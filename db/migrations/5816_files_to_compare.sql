-- Whether the registry that a file names was compared: not of those that were read before.
alter table feedback_file add column registry_compared boolean not null default false;
alter table feedback_file alter column registry_compared set default true;
