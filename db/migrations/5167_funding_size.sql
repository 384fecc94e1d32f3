-- Fundings of nearly the same size: within a factor of two.
create function funding_size(gross numeric) returns int language sql immutable parallel safe as $$
  select floor(log(2, greatest(gross, 1)))::int
$$;
