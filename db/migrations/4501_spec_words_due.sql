-- Agents get what documents say besides names among their words when they are derived next: all of them in a while, when no
-- job of the release before runs any more, which would derive them without.
insert into due (kind, key, due_at) select 'agents', fid::text, now() + interval '15 minutes' from agent
    on conflict do nothing;
