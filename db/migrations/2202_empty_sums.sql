-- Sums of nothing, which the triggers of before left.
delete from settlement_hour_total where n = 0;
delete from facilitator_total where n = 0;
