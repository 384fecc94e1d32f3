create or replace view directory.feedback as
select chain, agent_id as erc8004_id, '0x' || encode(client, 'hex') as client_address, feedback_index,
       value * ('1e-' || value_decimals)::numeric as value, tag1, tag2, endpoint, feedback_uri,
       '0x' || encode(feedback_hash, 'hex') as feedback_hash, block_number, log_index,
       '0x' || encode(tx_hash, 'hex') as tx_hash, block_timestamp, revoked_block, revoked_at, client as client_bytes
  from public.feedback;

comment on view directory.feedback is e'@behavior -*\nFeedback on ERC-8004 registrations, whoever gave it, revoked ones included. Give a chain with a registration, or client_bytes.';
comment on column directory.feedback.chain is 'Lowercase name of the chain.';
comment on column directory.feedback.erc8004_id is 'Number of the registration that was judged.';
comment on column directory.feedback.client_address is 'Who gave it; anybody may, from as many addresses as he likes.';
comment on column directory.feedback.feedback_index is 'Counts the feedback of one client to one registration from 1 on.';
comment on column directory.feedback.value is 'The number that was given, exact; tags have scales of their own.';
comment on column directory.feedback.tag1 is 'First tag, free text.';
comment on column directory.feedback.tag2 is 'Second tag, free text.';
comment on column directory.feedback.endpoint is 'Endpoint it is about, as given; not checked.';
comment on column directory.feedback.feedback_uri is 'URI of more, as given; not read.';
comment on column directory.feedback.feedback_hash is 'Hash of what the URI leads to, as given.';
comment on column directory.feedback.block_number is 'Block it was given in.';
comment on column directory.feedback.log_index is 'Log index in the block.';
comment on column directory.feedback.tx_hash is 'The transaction.';
comment on column directory.feedback.block_timestamp is 'Block time.';
comment on column directory.feedback.revoked_block is 'Block in which the client took it back; null: it stands.';
comment on column directory.feedback.revoked_at is 'When it was taken back; null: it stands.';
comment on column directory.feedback.client_bytes is 'The client as bytes: conditions on it use an index, those on the text do not.';
