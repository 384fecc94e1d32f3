/** SQL: assurance of a FID, that of its least well proven verified address; null without one. */
export const assuranceOf = (fid: string) => `(
select (array['stated', 'signed', 'proven'])[min(case v.verdict when 'proven' then 3 when 'signed' then 2 else 1 end)]
  from verified_address v where v.fid = ${fid} and v.ended_at is null)`

/**
 * SQL: what shows that the handle of a profile `p` is the account's. The name server signs for an address: `proven`, it has
 * custody of the account; `signed`, the account verifies it, or another hub says the same; `stated`, one hub says so.
 */
export const handleAssurance = `
case when p.handle is null then null
     when p.handle_owner = (
       select c.address
         from (select r.address, r.block_number, 'infinity'::float8 as log_index from custody_reading r where r.fid = p.fid
                union all
               select t."to", t.block_number, t.log_index from fid_custody t where t.fid = p.fid) c
        order by c.block_number desc, c.log_index desc limit 1) then 'proven'
     when p.handle_witness is not null
       or exists (select from verified_address v
                   where v.fid = p.fid and v.ended_at is null and v.address = p.handle_owner
                     and v.verdict in ('proven', 'signed')) then 'signed'
     else 'stated' end`

/** SQL: who stands behind the shown handle of an agent; one that is not derived again yet rests on one hub's word. */
export const shownHandleAssurance = (agent: string) =>
  `case when ${agent}.handle is not null then coalesce(${agent}.handle_assurance, 'stated') end`
