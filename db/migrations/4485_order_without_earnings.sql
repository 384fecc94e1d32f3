-- outside a transaction
-- Agents that earned nothing stand behind the others in the list by earnings, in the order of their FIDs.
drop index concurrently if exists agent_in_fid;
create index concurrently agent_in_fid on agent (fid desc)
  include (chains, claimed, has_spec, has_codehost, settlements_30d);
