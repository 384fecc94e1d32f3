-- Who rates in a circle is excused by what it paid itself, and no longer by what others of the circle paid.
create or replace view feedback_rule as
select * from (values
  ('circle', 2, 0.8, 'The client and those it rates rate each other in a circle of two to six, and hardly anybody else, and it has not paid for all of these ratings.'),
  ('funding_chain', 5, null, 'The client was first paid by another client of the same registration, which was first paid by another one, and so on: at least the fifth of such a chain.'),
  ('made_together', 50, 0.95, 'Of those who rated the registration in one hour, nearly all were first seen in that hour and never paid anybody.'),
  ('only_rates', 200, 0.98, 'Nearly all clients of the registration, and of all others that the client rated, never paid anybody: they do nothing but give feedback.'),
  ('shared_funder', 20, 0.8, 'The same address was the first to pay many clients, hardly paid anybody else, and they rate few registrations.'))
  rule (name, least_clients, least_share, about);
