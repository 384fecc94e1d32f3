-- What the hub said about itself when it was last believed, and why it is not now: for all processes of the job.
create table hub_standing (
  url text primary key,
  checked_at timestamptz not null,
  accounts bigint,                 -- totals when it was last believed; null: it does not tell
  messages bigint,
  doubt text,                      -- null: it is believed
  doubted_since timestamptz
);

-- Accounts that an answer left without a verified address: only a second answer, an hour later, ends what was known.
create table emptied_account (
  fid bigint primary key,
  first_empty_at timestamptz not null
);
