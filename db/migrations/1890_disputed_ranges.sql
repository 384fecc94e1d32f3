-- Blocks whose rows the node confirms and the history source denies are not certified: they are audited again later, and
-- those above them meanwhile. Null: not disputed.
alter table head_range add column retry_at timestamptz;
