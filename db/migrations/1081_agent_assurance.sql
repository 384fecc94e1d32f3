-- What the weakest of its verified addresses is proven by: shown of an agent, so that another one is a change.
alter table agent add column assurance text;
update agent a
   set assurance = (select (array['stated', 'signed', 'proven'])[min(case v.verdict when 'proven' then 3 when 'signed' then 2 else 1 end)]
                      from verified_address v where v.fid = a.fid and v.ended_at is null);
