import type { Queryable } from '../../pool.ts'

/** The newest claim event of an account. By its hash it stands for the whole chain of events before it. */
interface LastClaimEvent {
  readonly fid: number
  readonly seq: number
  /** Lowercase hex. */
  readonly sha256: string
}

export async function lastClaimEvents(db: Queryable): Promise<LastClaimEvent[]> {
  const { rows } = await db.query<LastClaimEvent>({
    text: `select distinct on (fid) fid, seq, encode(sha256, 'hex') as sha256 from claim_event order by fid, seq desc`,
  })
  return rows
}

/** FIDs whose given event is not in the database, ascending; empty: none was lost. */
export async function fidsWithoutEvent(db: Queryable, events: readonly LastClaimEvent[]): Promise<number[]> {
  const { rows } = await db.query<{ fid: number }>({
    text: `
select e.fid
  from unnest($1::bigint[], $2::int[], $3::text[]) as e (fid, seq, sha256)
 where not exists (select from claim_event c
                    where (c.fid, c.seq, c.sha256) = (e.fid, e.seq, decode(e.sha256, 'hex')))
 order by e.fid`,
    values: [events.map(({ fid }) => fid), events.map(({ seq }) => seq), events.map(({ sha256 }) => sha256)],
  })
  return rows.map(({ fid }) => fid)
}

/** `loose`: claim events that do not link to the one before; `unnoted`: claims without an event. Both must be 0. */
export async function claimFaults(db: Queryable): Promise<{ readonly loose: number; readonly unnoted: number }> {
  const { rows } = await db.query<{ loose: number; unnoted: number }>({
    text: `
select (select count(*)
          from (select previous, seq, lag(sha256) over of_fid as former, row_number() over of_fid as place
                  from claim_event window of_fid as (partition by fid order by seq)) e
         where e.seq <> e.place or e.previous is distinct from e.former) as loose,
       (select count(*) from claim c
         where not exists (select from claim_event e
                            where (e.fid, e.method, e.nonce) = (c.fid, c.method, c.nonce))) as unnoted`,
  })
  return rows[0] as { loose: number; unnoted: number }
}

/**
 * `agents`: those that the newest log line is wrong about; `numbers`: log numbers that would be reused. Both must be 0.
 */
export async function logFaults(db: Queryable): Promise<{ readonly agents: number; readonly numbers: number }> {
  const { rows } = await db.query<{ agents: number; numbers: number }>({
    text: `
select (select count(*)
          from agent a
         where (select c.kind from agent_change c where c.fid = a.fid order by c.seq desc limit 1)
               is distinct from 'upsert')
     + (select count(distinct c.fid)
          from agent_change c
         where c.kind = 'upsert' and not exists (select from agent a where a.fid = c.fid)
           and not exists (select from agent_change l where l.fid = c.fid and l.seq > c.seq)) as agents,
       greatest(0, greatest((select max(seq) from agent_change), (select max(seq) from agent_activity), 0)
                   - coalesce(pg_sequence_last_value(pg_get_serial_sequence('agent_change', 'seq')::regclass), 0))
         as numbers`,
  })
  return rows[0] as { agents: number; numbers: number }
}

/** Notes when a copy of the whole database was begun. */
export async function noteBackup(db: Queryable, takenAt: Date): Promise<void> {
  await db.query({
    text: 'update service_state set backup_taken_at = $1',
    values: [takenAt],
  })
}

/** When the newest copy of the whole database was begun; undefined: none was made by `npm run backup`. */
export async function lastBackup(db: Queryable): Promise<Date | undefined> {
  const { rows } = await db.query<{ at: Date | null }>({ text: 'select backup_taken_at as at from service_state' })
  return rows[0]?.at ?? undefined
}

/** Name of the database that these statements run in. */
export async function databaseName(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ name: string }>('select current_database() as name')
  return (rows[0] as { name: string }).name
}
