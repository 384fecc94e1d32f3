-- Who pays each agent, and who of them comes back: payers that are not the agent itself, without what goes round, by
-- payments of every kind in blocks that are rolled up. Derived agent by agent.
create table agent_demand (
  fid bigint not null,
  chain text not null,                    -- empty: all of them
  payers bigint not null,
  repeat_last_7d bigint not null,         -- those whose newest payment is in the window, and was not their first
  repeat_last_30d bigint not null,
  repeat_ever bigint not null,
  new_last_30d bigint not null,           -- those whose first payment is in the window
  returned bigint not null,               -- those whose newest payment is a day or more behind their first
  median_gap bigint,                      -- seconds: of those who paid again, the mean time between payments in the middle; null: nobody did
  amount numeric(78, 0) not null,         -- base units that all of them paid
  largest_amount numeric(78, 0) not null, -- of the one who paid most
  primary key (fid, chain)
) with (fillfactor = 85);
alter table ranking add column repeat_payers bigint not null default 0;
