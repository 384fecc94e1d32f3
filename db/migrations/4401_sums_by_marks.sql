-- What directory_sum and the marks of db/due/kinds.ts are instead of.
drop trigger agent_sum_added on agent;
drop trigger agent_sum_removed on agent;
drop trigger agent_sum_moved on agent;
drop trigger agent_sum_emptied on agent;
drop trigger recipient_counts_sum_added on recipient_counts;
drop trigger recipient_counts_sum_moved on recipient_counts;
drop trigger recipient_counts_sum_removed on recipient_counts;
drop trigger recipient_counts_sum_emptied on recipient_counts;
drop trigger registration_transfer_sum_added on registration_transfer;
drop trigger registration_transfer_sum_removed on registration_transfer;
drop trigger registration_transfer_sum_moved on registration_transfer;
drop trigger registration_transfer_sum_emptied on registration_transfer;
drop trigger registration_sum_added on registration;
drop trigger registration_sum_removed on registration;
drop trigger registration_sum_moved on registration;
drop trigger registration_sum_emptied on registration;
drop function note_agent_sums();
drop function note_agent_sum_moved();
drop function note_count_sums();
drop function note_holder_sums();
drop function note_holder_sum_moved();
drop function note_supply_sums();
drop function note_supply_sum_moved();
drop function forget_directory_sums();
-- squawk-ignore ban-drop-table
drop table directory_moved, agent_sum, address_sum, supply_sum;
drop function agent_part(bigint), token_part(numeric), address_part(bytea), address_part_start(int);
