/** SQL: assurance of a FID, that of its least well proven verified address; null without one. */
export const assuranceOf = (fid: string) => `(
select (array['stated', 'signed', 'proven'])[min(case v.verdict when 'proven' then 3 when 'signed' then 2 else 1 end)]
  from verified_address v where v.fid = ${fid} and v.ended_at is null)`
