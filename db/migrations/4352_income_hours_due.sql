-- What waited in the queue of before. Its triggers are gone: nothing comes to it any more.
insert into due (kind, key)
select 'income hours', encode(recipient, 'hex') || ':' || chain || ':' || floor(extract(epoch from hour) / 3600)::bigint
  from income_due;
