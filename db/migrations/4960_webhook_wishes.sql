-- What endpoints want of events that name a chain, and of those of a payment.
alter table webhook add column chains text[];
alter table webhook add column min_amount numeric;
