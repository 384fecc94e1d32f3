-- Rankings and totals of the last days read the hours of all recipients.
create index settlement_hourly_hour on settlement_hourly (hour);
