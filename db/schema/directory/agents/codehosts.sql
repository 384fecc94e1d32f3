create or replace view directory.codehosts as
select c.fid, c.login, c.user_id, c.type, c.name, c.url, c.avatar_url, c.blog, c.bio, c.followers, c.following,
       c.public_repos, c.total_stars, c.top_languages, c.account_created_at, c.last_push_at, c.verified, c.source,
       c.fetched_at
  from public.codehost_profile c
 where exists (select from public.agent a where a.fid = c.fid);

comment on view directory.codehosts is e'@behavior -*\nAccounts of a code host that agents name.';
comment on column directory.codehosts.fid is 'The agent’s id in the social network.';
comment on column directory.codehosts.login is 'Name of the account, as the host writes it.';
comment on column directory.codehosts.user_id is 'Its number there; names change, numbers do not.';
comment on column directory.codehosts.type is 'User or Organization.';
comment on column directory.codehosts.name is 'Name to show; null: none.';
comment on column directory.codehosts.url is 'Its page.';
comment on column directory.codehosts.avatar_url is 'Address of its picture.';
comment on column directory.codehosts.blog is 'Web site it names; not checked.';
comment on column directory.codehosts.bio is 'What it says of itself.';
comment on column directory.codehosts.followers is 'Followers there.';
comment on column directory.codehosts.following is 'How many it follows.';
comment on column directory.codehosts.public_repos is 'Public repositories.';
comment on column directory.codehosts.total_stars is 'Stars of its own repositories, together.';
comment on column directory.codehosts.top_languages is 'Languages of its repositories, most used first.';
comment on column directory.codehosts.account_created_at is 'When the account was made.';
comment on column directory.codehosts.last_push_at is 'When it last pushed to one of them.';
comment on column directory.codehosts.verified is 'Whether the account names the agent as well.';
comment on column directory.codehosts.source is 'Where the agent names it: socialindex, identity, registration.';
comment on column directory.codehosts.fetched_at is 'When it was first read as it is.';
