import type { Queryable } from '../../pool.ts'
import { type LeftOut, readInParts } from '../sql/broken-rows.ts'
import type { Installation } from '../sql/installation.ts'
import { isoTime, members } from '../sql/json-text.ts'
import { profileFields, sourceTimes } from '../sql/profile-fields.ts'

/** Newest position of a database's log. */
interface LogHead {
  /** UUID of the numbering: another database, a failover or a restore begins a new epoch. */
  readonly epoch: string
  /** Number of the newest line; 0 before the first. */
  readonly head: number
}

interface LogEntry {
  readonly seq: number
  readonly fid: number
  readonly kind: 'upsert' | 'delist'
  /** ISO time. */
  readonly changedAt: string
}

interface LogOptions {
  /** Cursor: only lines with higher numbers are returned. */
  readonly since: number
  /** Greatest number of lines. */
  readonly limit: number
  /** Bytes of lines after which no further profile is read. */
  readonly maxBytes: number
  /** Names of the profile's fields; absent: all. */
  readonly fields?: readonly string[]
  readonly installation: Installation
  readonly leftOut: LeftOut
}

interface LogPage {
  /** One JSON object a line, in the order of the numbers. */
  readonly lines: string
  /** Cursor of the next page; equal to `since`: the reader has everything. */
  readonly reached: number
}

/** Profiles per statement, which bounds its memory. */
const profilesAtOnce = 50
/** Log numbers examined per statement; when agents change often, newer lines supersede most of them. */
const entriesAtOnce = 10_000

/**
 * The newest number, and of which log. The epoch that is stored holds in the server and on the timeline it was made in;
 * on any other it gives another one, so that nobody has to notice a failover in time to change it. Asked of a primary.
 */
export async function logHead(db: Queryable): Promise<LogHead> {
  const { rows } = await db.query<LogHead>({
    name: 'log-head',
    text: `
select case when (e.system_identifier, e.timeline) = (s.system_identifier, s.timeline) then e.epoch
            else md5(concat_ws(' ', e.epoch, s.system_identifier, s.timeline))::uuid
        end as epoch,
       greatest((select max(seq) from agent_change), (select max(seq) from agent_activity), 0) as head
  from service_state e,
       (select system_identifier, left(pg_walfile_name(pg_current_wal_flush_lsn()), 8) as timeline
          from pg_control_system()) s`,
  })
  return rows[0] as LogHead
}

/** Gives the log a new epoch, so that mirrors notice that its numbers no longer mean the same changes. */
export async function renewEpoch(db: Queryable): Promise<void> {
  await db.query({
    text: `
update service_state
   set epoch = gen_random_uuid(),
       system_identifier = (select system_identifier from pg_control_system()),
       timeline = left(pg_walfile_name(pg_current_wal_flush_lsn()), 8)`,
  })
}

/**
 * Lines behind a number: of each agent the newest only, with its profile as it is now, or that it is gone; the latter
 * is kept for good. A profile may be newer than its line, and then has a later line as well.
 *
 * No number below one that is seen comes later: whoever writes `agent` holds the lock of the join until it commits.
 */
export async function readLog(db: Queryable, options: LogOptions): Promise<LogPage> {
  const { limit, maxBytes } = options
  let reached = options.since
  let lines = ''
  while (lines === '') {
    let entries = await nextEntries(db, { since: reached, limit })
    if (entries.length === 0) {
      const next = await nextNewest(db, reached)
      if (next === null) break
      entries = await nextEntries(db, { since: next - 1, limit })
      reached = next - 1
    }
    for (let at = 0; at < entries.length && lines.length < maxBytes; at += profilesAtOnce) {
      const part = entries.slice(at, at + profilesAtOnce)
      lines += await linesOf(db, part, options)
      reached = (part.at(-1) as LogEntry).seq
    }
  }
  return { lines, reached }
}

/** The next numbers that no newer one of the same agent follows; none: each of those looked at is followed by one. */
async function nextEntries(
  db: Queryable,
  { since, limit }: { since: number; limit: number },
): Promise<readonly LogEntry[]> {
  const { rows } = await db.query<LogEntry>({
    name: 'log-entries',
    text: `
with entry as (
  (select seq, fid, kind, changed_at from agent_change where seq > $1 order by seq limit $3)
   union all
  (select seq, fid, 'upsert', changed_at from agent_activity where seq > $1 order by seq limit $3)
   order by seq
   limit $3
),
newest as (
  select e.* from entry e
   where not exists (select from agent_change c where c.fid = e.fid and c.seq > e.seq)
     and not exists (select from agent_activity c where c.fid = e.fid and c.seq > e.seq)
   order by seq
   limit $2
)
select seq, fid, kind, ${isoTime('changed_at')} as "changedAt" from newest order by seq`,
    values: [since, limit, entriesAtOnce],
  })
  return rows
}

/**
 * The first number behind another that is the newest of its agent, however many old ones stand between: it reads each of
 * them once, where `nextEntries` asks for every one whether another follows. Null: nothing is behind it.
 */
async function nextNewest(db: Queryable, since: number): Promise<number | null> {
  const { rows } = await db.query<{ seq: number | null }>({
    name: 'log-next-newest',
    text: `
select min(newest) as seq
  from (select max(seq) as newest
          from (select seq, fid from agent_change where seq > $1
                 union all
                select seq, fid from agent_activity where seq > $1) entry
         group by fid) agent`,
    values: [since],
  })
  return rows[0]?.seq ?? null
}

async function linesOf(db: Queryable, entries: readonly LogEntry[], options: LogOptions): Promise<string> {
  const broken = new Set<number>()
  const profiles = new Map<number, string>()
  await readInParts({
    fids: entries.filter(({ kind }) => kind === 'upsert').map(({ fid }) => fid),
    read: async (fids) => {
      for (const { fid, profile } of await profilesOf(db, fids, options)) profiles.set(fid, profile)
    },
    leftOut(fid, cause) {
      broken.add(fid)
      options.leftOut(fid, cause)
    },
  })
  return entries
    .filter(({ fid }) => !broken.has(fid))
    .map(({ seq, changedAt, fid }) => {
      const profile = profiles.get(fid)
      const head = `{"seq":${seq},"changed_at":"${changedAt}","kind"`
      // Gone since the numbers were read: a later line says so as well.
      return profile === undefined
        ? `${head}:"delist","fid":${fid}}\n`
        : `${head}:"upsert","fid":${fid},"profile":${profile}}\n`
    })
    .join('')
}

/** Counters are those of the rows, which move with a number of their own; a single profile counts exactly. */
async function profilesOf(db: Queryable, fids: readonly number[], { fields, installation }: LogOptions) {
  const object = `json_build_object(${members(profileFields, fields ?? null)})`
  const { rows } = await db.query<{ fid: number; profile: string }>({
    name: fields ? undefined : 'log-profiles',
    text: `
select a.fid, ${object}::text as profile
  from agent a
 cross join lateral (
   select a.settlements_30d as last_30d, a.settlements_all as ever, a.last_settlement_at as newest_at
 ) paid
 cross join lateral (${sourceTimes}) source
 where a.fid = any ($2::bigint[]) and $1::jsonb is not null`,
    values: [JSON.stringify(installation), fids],
  })
  return rows
}
