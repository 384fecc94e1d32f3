-- While others read and write.
alter table facilitator_total validate constraint times_known;
