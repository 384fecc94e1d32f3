-- What owners said before there was a transparency log is appended to it when the job runs next, in the order of its times.
insert into due (kind, key) select 'logged facts', 'claim:' || fid || ':' || seq from claim_event order by at;
insert into due (kind, key)
select 'logged facts', 'listing:' || action || ':' || fid || ':' || method || ':' || nonce
  from claim_action where action <> 'withdraw' order by accepted_at;
