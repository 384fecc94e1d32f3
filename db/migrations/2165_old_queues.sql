-- squawk-ignore ban-drop-table
drop table income_wallet_event, income_progress, edge_event, holder_event, token_event, agent_event, large_holder_event;
-- squawk-ignore ban-drop-column
alter table edge_derivation drop column due, drop column derived_at;
