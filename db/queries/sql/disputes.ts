import { isoTime } from './json-text.ts'

/** Whether another hub, asked twice, does not know the message that a verification rests on. `v`: of `verified_address`. */
export function disputed(v: string): string {
  return `exists (select from verification_witness w
                   where w.fid = ${v}.fid and w.message_hash = ${v}.message_hash and w.disputed)`
}

/** What other hubs say of it, by their addresses. */
export function testimonies(v: string): string {
  return `coalesce((select json_agg(json_build_object(
                             'hub', substring(w.url from '^[a-z]+://([^/]+)'), 'has', w.has,
                             'checked_at', ${isoTime('w.checked_at')})
                             order by w.url)
                      from verification_witness w
                     where w.fid = ${v}.fid and w.message_hash = ${v}.message_hash), '[]')`
}
