-- What the claimant was told: a replay is answered with it, whatever became of the agent since.
alter table claim
  add column agent_status text not null default 'claimed-only'; -- active, historical, claimed-only
