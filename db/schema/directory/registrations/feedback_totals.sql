create or replace view directory.feedback_totals as
select chain, agent_id as erc8004_id, standing, revoked
  from public.feedback_total
 where (standing, revoked) <> (0, 0);

comment on view directory.feedback_totals is e'@behavior -*\nHow much feedback each registration was given; none has no row.';
comment on column directory.feedback_totals.chain is 'Lowercase name of the chain.';
comment on column directory.feedback_totals.erc8004_id is 'Number of the registration.';
comment on column directory.feedback_totals.standing is 'Feedback that was not revoked.';
comment on column directory.feedback_totals.revoked is 'Feedback that was.';
