-- Blocks that were the newest final one when a processor's transaction ended, newest ten thousand of a chain: when a
-- reorg goes deeper than that should be possible, they tell where the indexed chain and the real one part.
create table final_block (
  chain text not null,
  height int not null,
  hash text not null,                    -- lowercase hex
  primary key (chain, height)
);
