-- Webhooks (docs/webhooks.md): what endpoints of accounts are sent, and how it went.

-- Events, each once, as the first of them are marked while somebody has a webhook. One appender at a time numbers them, so
-- that below a number that is seen no other comes later.
create table webhook_event (
  seq bigint generated always as identity primary key,
  subject text not null unique, -- key of the fact, as in db/due/kinds.ts
  type text not null,           -- of trust/webhooks/types.ts
  fid bigint not null,
  at timestamptz not null,
  data jsonb not null           -- what it says besides
);
create index webhook_event_at on webhook_event (at);
create index webhook_event_fid on webhook_event (fid, seq);
create index webhook_event_type on webhook_event (type, seq);

-- Endpoints, as their accounts registered them. They stay for a day when they were deleted, so that a proof serves once.
create table webhook (
  id text primary key,
  fid bigint not null,
  url text not null,
  types text[] not null,
  fids bigint[],                -- whose events; null: everybody's
  method text not null,         -- of the proof: eip191, jfs
  nonce text not null,
  proof_sha256 bytea not null,
  token_sha256 bytea not null,  -- of the token that manages it
  after_seq bigint not null,    -- events behind this one are sent
  moves int not null default 0, -- how often `after_seq` was set since
  created_at timestamptz not null,
  deleted_at timestamptz,
  chains text[],                -- of events that name a chain, only those on these; null: on every chain
  min_amount numeric,           -- of events of a payment, only those of as many dollars; null: of every payment
  secret_version int not null default 1,
  rotated_at timestamptz,       -- when the version before was replaced; null: there was none
  unique (fid, method, nonce)
);
create index webhook_fid on webhook (fid) where deleted_at is null;
create index webhook_fids on webhook using gin (fids) where deleted_at is null;
create index webhook_deleted on webhook (deleted_at) where deleted_at is not null;

-- How far each endpoint was sent its events. Without a row: no further than `webhook` says.
create table webhook_standing (
  id text primary key,
  moves int not null,           -- of `webhook`, when this was written: what is set later holds instead
  after_seq bigint not null,
  last_success_at timestamptz,
  ended_at timestamptz,         -- since when nothing is sent any more; null: it is
  ended_for text                -- gone: it answered 410; failed: nothing arrived for about 76 hours
);
create index webhook_standing_ended on webhook_standing (ended_at) where ended_at is not null;

-- Attempts to send, for 30 days.
create table webhook_delivery (
  id text not null,
  seq bigint not null,
  at timestamptz not null,
  outcome text not null,        -- ok, or a word for what was wrong
  elapsed_ms int not null,
  primary key (id, at, seq)
);
create index webhook_delivery_at on webhook_delivery (at);
