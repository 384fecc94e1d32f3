-- What sources outside the chains and the social network say about agents; each written by its source alone.

create table oli_tag (
  fid bigint not null,
  address bytea not null,
  source text not null,                -- blockscout, oli
  chain text,                          -- null: holds on every chain
  slug text not null,
  name text not null,
  tag_type text not null,
  ordinal int,
  meta json,
  attester bytea,                      -- of an attestation
  fetched_at timestamptz not null,     -- when it was first read as it is
  unique nulls not distinct (fid, source, address, chain, slug, tag_type, attester)
);

create table agent_identity (
  fid bigint not null,
  platform text not null,
  identity text not null,
  display_name text,
  address text,
  url text,
  avatar_url text,
  description text,
  sources text[] not null,             -- who says so; empty: the identity itself does
  follower_count bigint,
  fetched_at timestamptz not null,     -- as above
  primary key (fid, platform, identity)
);

create table codehost_profile (
  fid bigint primary key,
  asked_login text not null,           -- whom the agent names; `login` is how the host writes it
  login text not null,
  user_id bigint not null,
  type text,
  name text,
  url text,
  avatar_url text,
  blog text,
  bio text,
  followers bigint,
  following bigint,
  public_repos bigint,
  total_stars bigint,
  top_languages text[] not null,
  account_created_at timestamptz,
  last_push_at timestamptz,
  verified boolean not null,           -- the account names the agent as well
  source text not null,                -- where the agent names it: socialindex, identity, registration
  user_etag text,                      -- of the two answers
  repositories_etag text,
  fetched_at timestamptz not null      -- as above
);

create function note_agents_gone() returns trigger language plpgsql as $$
begin
  insert into agent_event (fid) select distinct fid from removed;
  return null;
end $$;

create trigger oli_tag_added after insert on oli_tag
  referencing new table as added for each statement execute function note_agents();
create trigger oli_tag_changed after update on oli_tag
  referencing new table as added for each statement execute function note_agents();
create trigger oli_tag_removed after delete on oli_tag
  referencing old table as removed for each statement execute function note_agents_gone();
create trigger agent_identity_added after insert on agent_identity
  referencing new table as added for each statement execute function note_agents();
create trigger agent_identity_changed after update on agent_identity
  referencing new table as added for each statement execute function note_agents();
create trigger agent_identity_removed after delete on agent_identity
  referencing old table as removed for each statement execute function note_agents_gone();
create trigger codehost_profile_added after insert on codehost_profile
  referencing new table as added for each statement execute function note_agents();
create trigger codehost_profile_changed after update on codehost_profile
  referencing new table as added for each statement execute function note_agents();
create trigger codehost_profile_removed after delete on codehost_profile
  referencing old table as removed for each statement execute function note_agents_gone();

-- What there was to ask a source about an agent when it was last asked for: another digest asks anew.
create table agent_input (
  fid bigint not null,
  source text not null,
  digest uuid not null,
  primary key (fid, source)
);

alter table agent add column enriched_digest uuid; -- of what is shown of the tables above, to tell a change from none

-- Requests to hosts that count them by the day, and their wishes to be left alone: for all processes, and the next one.
create table host_budget (
  host text primary key,
  day date not null,
  spent int not null,
  rests_until timestamptz
);

-- Whom agents follow, the newest first: of them those in the index are edges.
create table social_follow (
  fid bigint primary key,
  targets bigint[] not null,
  followed_at timestamptz[] not null
);
