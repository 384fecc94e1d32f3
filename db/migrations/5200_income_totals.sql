-- The totals of income move in the statement that writes its hours.
drop trigger income_hour_added on income_hour;
drop trigger income_hour_changed on income_hour;
drop trigger income_hour_removed on income_hour;
drop function sum_income();
