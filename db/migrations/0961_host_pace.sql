-- When the next request may go out to a host: processes of the job share one pace.
alter table host_budget add column next_at timestamptz;
