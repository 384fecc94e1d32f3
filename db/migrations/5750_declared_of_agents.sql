-- What agents' registrations declare, beside what else agents are found and counted by.
alter table searched_agent add column declared text[] not null default '{}';
alter table searched_agent add column most_feedback bigint;
