-- Only of agents' addresses is it asked who sent what they were paid: it is kept with their income, not of every recipient.
create table income_sender (
  facilitator bytea not null,
  recipient bytea not null,
  chain text not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (facilitator, recipient, chain)
);

insert into income_sender (facilitator, recipient, chain, first_at, last_at)
select f.facilitator, f.recipient, f.chain, min(f.first_at), max(f.last_at)
  from settlement_facilitator f
 where exists (select from income_address a where a.address = f.recipient)
 group by 1, 2, 3;

create or replace function note_facilitator_hours() returns trigger language plpgsql as $$
begin
  lock table income_sender in share mode;
  insert into income_due (recipient, chain, hour)
  select recipient, chain, hour
    from (select h.recipient, h.chain, h.hour
            from moved
            join income_sender f on f.facilitator = moved.address
            join settlement_hourly h on h.recipient = f.recipient and h.chain = f.chain
                                    and h.hour >= date_trunc('hour', f.first_at, 'UTC') and h.hour <= f.last_at
           union
          select p.payee, p.chain, date_trunc('hour', p.block_timestamp, 'UTC')
            from moved
            join payment p on p.facilitator = moved.address and p.kind = 'forwarded') hours
   where exists (select from income_address a where a.address = hours.recipient)
   order by 1, 2, 3 on conflict (recipient, chain, hour) do update set hour = excluded.hour;
  return null;
end $$;
