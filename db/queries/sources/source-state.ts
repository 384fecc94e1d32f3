import type { Queryable } from '../../pool.ts'
import { storableText } from '../../text.ts'

/** How urgent a subject is: 2 just claimed, a new holder, or changed at the source; 1 seen and stale; 0 the rest. */
type Priority = 0 | 1 | 2

export interface LeasedSubject {
  readonly subject: string
  /** Failures in a row before this attempt. */
  readonly failures: number
  readonly lastSuccessAt: Date | null
}

interface LeaseOrder {
  readonly source: string
  readonly leaseId: string
  readonly now: Date
  /** When a lease that was not finished expires. */
  readonly until: Date
  readonly limit: number
}

/**
 * What is due of one priority, stalest first. A range of due times over all priorities would be no range of the index:
 * servers before Postgres 18 then walk over everything that a source is not yet to read.
 */
const dueOf = (priority: Priority, limit: string) => `
  select subject from source_state
   where source = $1 and priority = ${priority} and due_at <= $2
   order by due_at
   limit ${limit} for update skip locked`

/** By key, whatever the plan: one made for any limit would take as many to be due as a part of the source, and read all of it. */
const leased = `
update source_state s
   set due_at = $3, lease_id = $4
 where s.source = $1 and s.subject = any (array(select subject from due))
returning s.subject, s.failures, s.last_success_at as "lastSuccessAt"`

/** Leases the most urgent subjects that are due; inside a priority the stalest. Nobody else gets them until the lease ends. */
export async function leaseDue(db: Queryable, order: LeaseOrder): Promise<LeasedSubject[]> {
  const text = `
with urgent as (${dueOf(2, '$5')}),
stale as (${dueOf(1, '$5 - (select count(*) from urgent)')}),
rest as (${dueOf(0, '$5 - (select count(*) from urgent) - (select count(*) from stale)')}),
due as (select subject from urgent union all select subject from stale union all select subject from rest)${leased}`
  return lease(db, 'lease-due', text, order)
}

/** Leases due subjects of priority 0 alone, stalest first: the part of a pass that urgent subjects cannot take. */
export async function leaseTail(db: Queryable, order: LeaseOrder): Promise<LeasedSubject[]> {
  return lease(db, 'lease-tail', `with due as (${dueOf(0, '$5')})${leased}`, order)
}

async function lease(db: Queryable, name: string, text: string, { source, leaseId, now, until, limit }: LeaseOrder) {
  const { rows } = await db.query<LeasedSubject>({ name, text, values: [source, now, until, leaseId, limit] })
  return rows
}

/** Leases one subject whether it is due or not, known or not: for a person who wants to see it read. */
export async function leaseSubject(
  db: Queryable,
  { source, subject, leaseId, until }: Omit<LeaseOrder, 'now' | 'limit'> & { subject: string },
): Promise<LeasedSubject> {
  const { rows } = await db.query<LeasedSubject>({
    name: 'lease-subject',
    text: `
insert into source_state as s (source, subject, due_at, lease_id)
values ($1, $2, $3, $4)
    on conflict (source, subject) do update set due_at = $3, lease_id = $4
returning s.subject, s.failures, s.last_success_at as "lastSuccessAt"`,
    values: [source, subject, until, leaseId],
  })
  return rows[0] as LeasedSubject
}

/** Puts off the end of a lease whose holder is still reading. */
export async function renewLease(
  db: Queryable,
  { source, subjects, leaseId, until }: Omit<LeaseOrder, 'now' | 'limit'> & { readonly subjects: readonly string[] },
): Promise<void> {
  await db.query({
    name: 'renew-lease',
    text: `
with held as (
  select subject from source_state
   where source = $1 and subject = any ($2::text[]) and lease_id = $3
   order by subject for update)
update source_state s set due_at = $4 from held where s.source = $1 and s.subject = held.subject`,
    values: [source, subjects, leaseId, until],
  })
}

/** How a read went, for every subject of one lease. */
interface Ending {
  readonly source: string
  readonly subjects: readonly string[]
  readonly leaseId: string
  /** When it ended: the time of the attempt. */
  readonly now: Date
  readonly dueAt: Date
  readonly outcome: string
  /** What went wrong, when there is more to say than the outcome does. */
  readonly error?: string
}

/** Longest kept message of a failure, in code points. */
const longestError = 500
const errorOf = ({ error }: Pick<Ending, 'error'>) => (error === undefined ? null : storableText(error, longestError))

/**
 * The subjects of a lease that are still held, locked in the order of their names as `askForSubjects` does: two
 * transactions that end a lease and ask again would wait for each other for ever.
 */
const held = `with held as (
  select subject from source_state
   where source = $1 and subject = any ($2::text[]) and lease_id = $3
   order by subject for update)`
/** The same of several leases: each of those subjects that is under any of them. */
const heldOfAny = `with held as (
  select subject, lease_id from source_state
   where source = $1 and subject = any ($2::text[]) and lease_id = any ($3::uuid[])
   order by subject for update)`
const ofHeld = 'from held where s.source = $1 and s.subject = held.subject'

/** Ends a lease with success. False: not every lease was still held, so what was read must not be written. */
export async function finishSubjects(db: Queryable, ending: Ending): Promise<boolean> {
  const { source, subjects, leaseId, dueAt, outcome, now } = ending
  const { rowCount } = await db.query({
    name: 'finish-subjects',
    text: `${held}
update source_state s
   set due_at = $4, priority = 0, lease_id = null, failures = 0, last_attempt_at = $6, last_success_at = $6,
       last_outcome = $5, last_error = null
  ${ofHeld}`,
    values: [source, subjects, leaseId, dueAt, outcome, now],
  })
  return rowCount === subjects.length
}

/** Ends a lease for good: the subjects are not to be read again. False: as for `finishSubjects`. */
export async function dropSubjects(db: Queryable, { source, subjects, leaseId }: Ending): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'drop-subjects',
    text: 'delete from source_state where source = $1 and subject = any ($2::text[]) and lease_id = $3',
    values: [source, subjects, leaseId],
  })
  return rowCount === subjects.length
}

/** Ends a lease with a failure; the subject stays as urgent as it was. False: as for `finishSubjects`. */
export async function failSubjects(db: Queryable, ending: Ending): Promise<boolean> {
  const { source, subjects, leaseId, dueAt, outcome, now } = ending
  const { rowCount } = await db.query({
    name: 'fail-subjects',
    text: `${held}
update source_state s
   set due_at = $4, lease_id = null, failures = failures + 1, last_attempt_at = $7, last_outcome = $5, last_error = $6
  ${ofHeld}`,
    values: [source, subjects, leaseId, dueAt, outcome, errorOf(ending), now],
  })
  return rowCount === subjects.length
}

/** How the read of one of many subjects went. */
interface ManyEnding extends Pick<Ending, 'outcome'> {
  readonly subject: string
  /** When it is read again; null: never. */
  readonly dueAt: Date | null
  /** Failures in a row now; 0: it did not fail. */
  readonly failures: number
}

/** A lease on one subject. */
export interface Lease {
  readonly subject: string
  readonly leaseId: string
}

/**
 * Locks the subjects of those leases that are still held, and returns whose each of them is: until the transaction ends
 * nobody wakes them.
 */
export async function lockHeld(
  db: Queryable,
  source: string,
  leases: readonly Lease[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.query<Lease>({
    name: 'lock-held-subjects',
    text: `${heldOfAny} select subject, lease_id as "leaseId" from held`,
    values: [source, leases.map(({ subject }) => subject), leases.map(({ leaseId }) => leaseId)],
  })
  return new Map(rows.map(({ subject, leaseId }) => [subject, leaseId]))
}

/** Ends the leases of subjects that `lockHeld` returned, each in its way. */
export async function endSubjects(
  db: Queryable,
  source: string,
  endings: readonly ManyEnding[],
  now: Date,
): Promise<void> {
  await db.query({
    name: 'end-subjects',
    text: `
with ended as materialized (
  select * from unnest($2::text[], $3::text[], $4::timestamptz[], $5::int[]) as ended (subject, outcome, due_at, failures)),
dropped as (
  delete from source_state s
   where s.source = $1 and s.subject = any (array(select subject from ended where due_at is null)))
update source_state s
   set due_at = e.due_at, priority = case when e.failures = 0 then 0 else s.priority end, lease_id = null,
       failures = e.failures, last_attempt_at = $6, last_outcome = e.outcome, last_error = null,
       last_success_at = case when e.failures = 0 then $6 else s.last_success_at end
  from ended e
 where s.source = $1 and s.subject = any ($2) and s.subject = e.subject and e.due_at is not null`,
    values: [
      source,
      endings.map(({ subject }) => subject),
      endings.map(({ outcome }) => outcome),
      endings.map(({ dueAt }) => dueAt),
      endings.map(({ failures }) => failures),
      now,
    ],
  })
}

/** Why subjects were not read, and when they are due again. */
export interface Unread extends Pick<Ending, 'leaseId' | 'subjects' | 'dueAt' | 'outcome' | 'error'> {
  /** When their host was asked for them; null: nobody was asked, and their last attempt stays what it was. */
  readonly askedAt: Date | null
  /** Whether it counts as a failure. A host that does not want to be asked now says nothing about the subjects. */
  readonly failed: boolean
}

/** Ends leases on subjects that were not read, as far as they are still held, in one statement for all of them. */
export async function releaseSubjects(db: Queryable, source: string, unread: readonly Unread[]): Promise<void> {
  const each = unread.flatMap(({ subjects, ...why }) => subjects.map((subject) => ({ subject, ...why })))
  await db.query({
    name: 'release-subjects',
    text: `${heldOfAny},
unread as materialized (
  select * from unnest($2::text[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[], $7::timestamptz[], $8::boolean[])
             as unread (subject, lease_id, due_at, outcome, error, asked_at, failed))
update source_state s
   set due_at = r.due_at, lease_id = null, failures = s.failures + r.failed::int, last_outcome = r.outcome,
       last_attempt_at = coalesce(r.asked_at, s.last_attempt_at), last_error = coalesce(r.error, s.last_error)
  from held
  join unread r using (subject, lease_id)
 where s.source = $1 and s.subject = any ($2) and s.subject = held.subject`,
    values: [
      source,
      each.map(({ subject }) => subject),
      each.map(({ leaseId }) => leaseId),
      each.map(({ dueAt }) => dueAt),
      each.map(({ outcome }) => outcome),
      each.map(errorOf),
      each.map(({ askedAt }) => askedAt),
      each.map(({ failed }) => failed),
    ],
  })
}

/**
 * Makes subjects due, known or not. A lease on one of them ends: what its holder has read may be older than the reason
 * for asking again.
 */
export async function askForSubjects(
  db: Queryable,
  source: string,
  subjects: readonly string[],
  { priority, dueAt }: { priority: Priority; dueAt: Date },
): Promise<void> {
  await db.query({
    name: 'ask-for-subjects',
    text: `
insert into source_state as s (source, subject, due_at, priority)
select $1, subject, $3, $4 from (select distinct unnest($2::text[]) as subject order by subject) as wanted
    on conflict (source, subject) do update
   set due_at = least(s.due_at, excluded.due_at), priority = greatest(s.priority, excluded.priority), lease_id = null
 where s.due_at > excluded.due_at or s.priority < excluded.priority`,
    values: [source, subjects, dueAt, priority],
  })
}

/**
 * Ends the leases on subjects, which are due again: what their holders have read may be older than what is known now.
 * Others keep their turn.
 */
export async function endLeases(
  db: Queryable,
  source: string,
  subjects: readonly string[],
  { dueAt }: { dueAt: Date },
): Promise<void> {
  await db.query({
    name: 'end-leases',
    text: `
with leased as (
  select subject from source_state
   where source = $1 and subject = any ($2::text[]) and lease_id is not null
   order by subject for update)
update source_state s set due_at = $3, lease_id = null from leased where s.source = $1 and s.subject = leased.subject`,
    values: [source, subjects, dueAt],
  })
}

/** Adds subjects that are not known yet; the others keep their turn. */
export async function addSubjects(
  db: Queryable,
  source: string,
  subjects: readonly string[],
  { priority, dueAt }: { priority: Priority; dueAt: Date },
): Promise<void> {
  await db.query({
    name: 'add-subjects',
    text: `
insert into source_state (source, subject, due_at, priority)
select $1, subject, $3, $4 from (select distinct unnest($2::text[]) as subject order by subject) as wanted
    on conflict (source, subject) do nothing`,
    values: [source, subjects, dueAt, priority],
  })
}

export async function forgetSubjects(db: Queryable, source: string, subjects: readonly string[]): Promise<void> {
  await db.query({
    name: 'forget-subjects',
    text: 'delete from source_state where source = $1 and subject = any ($2::text[])',
    values: [source, subjects],
  })
}

/** Forgets what is not asked about any more, of a source whose subjects the settings name. */
export async function forgetOtherSubjects(db: Queryable, source: string, subjects: readonly string[]): Promise<void> {
  await db.query({
    name: 'forget-other-subjects',
    text: 'delete from source_state where source = $1 and subject <> all ($2::text[])',
    values: [source, subjects],
  })
}

interface DueCount {
  readonly source: string
  /** At most `mostDue`. */
  readonly due: number
  /** Seconds for which the one that waits longest has been due. */
  readonly late_seconds: number
}

/** Subjects of a source that are counted as due; there may be more. */
export const mostDue = 100_000

/** Subjects that are due, by source, for the operator's eyes: counted by index, because it is asked several times a minute. */
export async function countDue(db: Queryable, now: Date): Promise<DueCount[]> {
  const { rows } = await db.query<DueCount>({
    name: 'count-due',
    text: `
with recursive known as (
  (select source from source_state order by source limit 1)
   union all
  select next.source
    from known
   cross join lateral (
     select s.source from source_state s where s.source > known.source order by s.source limit 1) next
)
select known.source, least(sum(waiting.due), ${mostDue})::int as due,
       greatest(0, extract(epoch from $1 - min(waiting.first_at)))::int as late_seconds
  from known
 cross join (values (0), (1), (2)) as each (priority)
 cross join lateral (
   select count(*) as due, min(due_at) as first_at
     from (select s.due_at from source_state s
            where s.source = known.source and s.priority = each.priority and s.due_at <= $1
            order by s.due_at
            limit ${mostDue}) one) waiting
 group by known.source
 order by known.source`,
    values: [now],
  })
  return rows
}

/** Subjects by source, due or not. Reads all of them. */
export async function countSubjects(db: Queryable): Promise<{ readonly source: string; readonly known: number }[]> {
  const { rows } = await db.query<{ source: string; known: number }>({
    name: 'count-subjects',
    text: 'select source, count(*) as known from source_state group by source order by source',
  })
  return rows
}
