-- Marks say since when they wait: how late what is derived is can be told, and alerted on.
alter table due add column marked_at timestamptz not null default now();
