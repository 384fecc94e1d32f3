-- Agents whose addresses said more of operators than was read: whom they named before that was told to be nobody of theirs.
insert into due (kind, key)
select distinct 'income', a.fid::text
  from (select owner from registration_operator group by owner having count(*) > 100) said
  join agent a on a.verified_addresses @> array[said.owner];
