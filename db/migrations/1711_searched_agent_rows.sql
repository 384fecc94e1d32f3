-- Those that are there; whoever changed since has its row.
insert into searched_agent (fid, search, chains, claimed, has_spec, has_codehost, document)
select fid, search, chains, claimed, has_spec, has_codehost, coalesce(document, '')
  from agent left join agent_words using (fid)
 order by fid
    on conflict (fid) do nothing;
