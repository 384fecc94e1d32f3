-- Responses to feedback, which anybody may append: the agent's own count. A chain that was indexed before this table was
-- there has those of later blocks alone; taking it back (npm run reset) brings the others.
create table feedback_response (
  id text primary key,
  chain text not null,
  agent_id numeric(78, 0) not null,
  client bytea not null,
  feedback_index numeric(20, 0) not null,
  responder bytea not null,
  response_uri text not null,
  response_hash bytea not null,
  block_number int not null,
  log_index int not null,
  block_timestamp timestamptz not null,
  tx_hash bytea not null
);
create index feedback_response_feedback on feedback_response (chain, agent_id, client, feedback_index, responder);
create index feedback_response_block on feedback_response (chain, block_number);

create view directory.feedback_responses as
select chain, agent_id as erc8004_id, '0x' || encode(client, 'hex') as client_address, feedback_index,
       '0x' || encode(responder, 'hex') as responder_address, response_uri,
       '0x' || encode(response_hash, 'hex') as response_hash, block_number, log_index,
       '0x' || encode(tx_hash, 'hex') as tx_hash, block_timestamp
  from public.feedback_response;
comment on view directory.feedback_responses is e'@behavior -*\nResponses to feedback, whoever appended them. Give a chain with a token.';
comment on column directory.feedback_responses.chain is 'Lowercase name of the chain.';
comment on column directory.feedback_responses.erc8004_id is 'Number of the token that was judged.';
comment on column directory.feedback_responses.client_address is 'Who gave the feedback.';
comment on column directory.feedback_responses.feedback_index is 'Which of the client’s feedback to the token, from 1 on.';
comment on column directory.feedback_responses.responder_address is 'Who responds; anybody may.';
comment on column directory.feedback_responses.response_uri is 'URI of the response, as given; not read.';
comment on column directory.feedback_responses.response_hash is 'Hash of what the URI leads to, as given.';
comment on column directory.feedback_responses.block_number is 'Block of the response.';
comment on column directory.feedback_responses.log_index is 'Log index in the block.';
comment on column directory.feedback_responses.tx_hash is 'The transaction.';
comment on column directory.feedback_responses.block_timestamp is 'Block time.';
