-- How many paid the agents that were paid so often that nobody can be made to wait while it is counted: as the enrichment
-- job last counted it. The counts hold for these addresses alone.
create table agent_payers (
  fid bigint primary key,
  addresses bytea[] not null,
  overloads boolean not null,            -- whether those who used an overload alone are counted too
  last_7d bigint not null,
  last_30d bigint not null,
  ever bigint not null,
  counted_at timestamptz not null
);
