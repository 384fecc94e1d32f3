-- What is shown of a ranked agent, counted together with its rank. The next round fills them.
alter table ranking add column last_30d bigint not null default 0;
alter table ranking add column ever bigint not null default 0;
