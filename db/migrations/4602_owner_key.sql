-- The index of 4601 takes the place of the key.
alter table income_owner drop constraint income_owner_pkey,
  add constraint income_owner_pkey primary key using index income_owner_times;
