-- What a look at an agent's documents, and at edges to it, was last made of is kept where sources keep it.
insert into agent_input (fid, source, digest) select fid, 'spec_discovery', digest from agent_spec_inputs;
insert into agent_input (fid, source, digest) select fid, 'edges', digest from edge_derivation where digest is not null;
