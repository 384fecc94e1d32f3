-- An agent's settlements of each window, as they were counted last: a ranking's first are then found without reading all.
alter table agent add column settlements_7d bigint not null default 0;
