-- What other hubs say about the messages that addresses rest on: their last answers, as long as they count.
create table verification_witness (
  fid bigint not null,
  message_hash bytea not null,
  url text not null,               -- of the hub
  has boolean not null,
  missing_since timestamptz,       -- first of its answers in a row without the message
  disputed boolean not null,       -- asked again, and still without it
  checked_at timestamptz not null,
  primary key (fid, message_hash, url)
);
