import type { Queryable } from '../../pool.ts'

/** Bytes of the words that an agent is found by; those of registrations that strangers sent it go in last. */
const mostBytes = 64 * 1024

const text = `
with wanted as materialized (
  select fid from searched_agent where fid = any ($1::bigint[]) order by fid for no key update
),
held as materialized (
  select w.fid, h.unsolicited, s.feedback_count, s.terms
    from wanted w
    join agent_holding h on h.fid = w.fid and h.reason is null
    join searched_registration s on s.chain = h.chain and s.agent_id = h.agent_id
),
declared as (
  select fid, term, sum(octet_length(term)) over (partition by fid order by term ^@ 'trust:', is_of_strangers, term collate "C") as bytes
    from (select held.fid, said.lexeme as term, bool_and(held.unsolicited) as is_of_strangers
            from held cross join unnest(held.terms) said
           where said.lexeme ^@ 'active:' or said.lexeme ^@ 'x402:' or said.lexeme ^@ 'trust:'
           group by held.fid, said.lexeme) one
),
found as (
  select w.fid, coalesce(d.terms, '{}') as declared, f.most as most_feedback
    from wanted w
    left join (select fid, array_agg(term order by term collate "C") as terms from declared where bytes <= ${mostBytes} group by fid) d using (fid)
    left join (select fid, max(feedback_count) as most from held group by fid) f using (fid)
)
update searched_agent s
   set (declared, most_feedback) = (f.declared, f.most_feedback)
  from found f
 where s.fid = f.fid and (s.declared, s.most_feedback) is distinct from (f.declared, f.most_feedback)`

/**
 * Updates what searched agents are found by of the registrations that they hold now: what these declare, and how much feedback
 * the one with most of it has. Agents without a row have nothing to be found by. Rows that are right are not written.
 */
export async function deriveDeclared(db: Queryable, fids: readonly number[]): Promise<void> {
  await db.query({ name: 'derive-declared', text, values: [fids] })
}
