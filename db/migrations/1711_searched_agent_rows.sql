-- Those that are there; whoever changed since has its row.
insert into searched_agent (fid, search, combination, document)
select fid, search, filtered_combination(agent), coalesce(document, '')
  from agent left join agent_words using (fid)
 order by fid
    on conflict (fid) do nothing;
