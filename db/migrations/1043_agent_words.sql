-- What agents are found by, derived with `agent`: their names, and what their registrations and documents say of them.
create table agent_words (
  fid bigint primary key,
  names text not null,                 -- handle, display name, tag, names of registrations and documents, one a line
  skills text not null,                -- skills, tools, services
  descriptions text not null,
  pieces json not null,                -- [{field, text}]: the same one by one, to say where a word was found
  document tsvector not null generated always as (
    setweight(to_tsvector('simple', names), 'A') || setweight(to_tsvector('simple', skills), 'B')
      || setweight(to_tsvector('simple', descriptions), 'C')) stored
);
create index agent_words_document on agent_words using gin (document);
create index agent_words_names on agent_words using gin (lower(names) gin_trgm_ops);
create index agent_handle on agent (lower(handle));

insert into agent_event (fid) select fid from agent order by fid;
