-- Their rows are in agent_input; no release reads them.
-- squawk-ignore ban-drop-table
drop table agent_spec_inputs;
-- squawk-ignore ban-drop-table
drop table edge_derivation;
