-- How many paid an agent in a window follows from agent_payer_hour.
-- squawk-ignore ban-drop-table
drop table agent_payers;
