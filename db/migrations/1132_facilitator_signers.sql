-- Accounts that facilitators name themselves, as each of them said last. Which of them are believed is in
-- facilitator_sender.
create table facilitator_signer (
  name text not null,
  address bytea not null,
  host text not null,                    -- that said so
  primary key (name, address)
);
create index facilitator_signer_address on facilitator_signer (address);
