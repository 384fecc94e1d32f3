-- Agents whose profiles have names of ENS: to be told as changed.
insert into due (kind, key)
select distinct 'agents', h.fid::text
  from control_reading k
  join agent_holding h using (chain, agent_id)
 where k.names::text <> '[]' and h.reason is null;
