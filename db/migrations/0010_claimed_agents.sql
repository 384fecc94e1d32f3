-- The bulk document and the filter of claimed agents read few of many rows.
create index agent_claimed on agent (claimed_at, fid) where claimed;
