create or replace view directory.feedback_responses as
select chain, agent_id as erc8004_id, '0x' || encode(client, 'hex') as client_address, feedback_index,
       '0x' || encode(responder, 'hex') as responder_address, response_uri,
       '0x' || encode(response_hash, 'hex') as response_hash, block_number, log_index,
       '0x' || encode(tx_hash, 'hex') as tx_hash, block_timestamp
  from public.feedback_response;

comment on view directory.feedback_responses is e'@behavior -*\nResponses to feedback, whoever appended them. Give a chain with a registration.';
comment on column directory.feedback_responses.chain is 'Lowercase name of the chain.';
comment on column directory.feedback_responses.erc8004_id is 'Number of the registration that was judged.';
comment on column directory.feedback_responses.client_address is 'Who gave the feedback.';
comment on column directory.feedback_responses.feedback_index is 'Which of the client’s feedback to the registration, from 1 on.';
comment on column directory.feedback_responses.responder_address is 'Who responds; anybody may.';
comment on column directory.feedback_responses.response_uri is 'URI of the response, as given; not read.';
comment on column directory.feedback_responses.response_hash is 'Hash of what the URI leads to, as given.';
comment on column directory.feedback_responses.block_number is 'Block of the response.';
comment on column directory.feedback_responses.log_index is 'Log index in the block.';
comment on column directory.feedback_responses.tx_hash is 'The transaction.';
comment on column directory.feedback_responses.block_timestamp is 'Block time.';
