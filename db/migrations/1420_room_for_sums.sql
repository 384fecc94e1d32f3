-- Room in each page for the next version of a row: a pair that pays again, or an hour that goes on, then moves within its
-- page, and no index is written for it.
alter table settlement_hourly set (fillfactor = 85);
alter table settlement_total set (fillfactor = 85);
alter table settlement_payer set (fillfactor = 85);
alter table settlement_facilitator set (fillfactor = 85);
alter table payment_sum set (fillfactor = 85);
