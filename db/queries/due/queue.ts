import { randomBytes } from 'node:crypto'
import { type KindName, kinds } from '../../due/kinds.ts'
import type { KeyRows } from '../../due/mark.ts'
import { lockClasses } from '../../lock-keys.ts'
import type { Queryable } from '../../pool.ts'

// The queue of everything derived: db/schema/tables/16_due.sql. Marks are only appended, so whoever writes facts waits for
// nobody who derives from them, and locks nothing that these hold.

/** Most marks that are counted for the operator. */
const mostWaiting = 1_000

/** A key to be derived, and how often that has failed since it last succeeded. */
interface DueKey {
  readonly key: string
  readonly attempts: number
}

/**
 * SQL behind `from due`: what is due of a kind, in the order of its key. Without it, where statistics tell that the kind is seldom
 * without marks, all of the queue is read to find none.
 */
const inTurn = (kind: string, now: string) => `where kind = ${kind} and due_at <= ${now} order by kind, due_at, seq`

/** Whether a key of this kind is due. Takes no lock. */
export async function isAnyDue(db: Queryable, kind: string, now: Date): Promise<boolean> {
  const { rows } = await db.query<{ due: boolean }>({
    name: 'is-any-due',
    text: `select exists (select from (select from due ${inTurn('$1', '$2')} limit 1) first) as due`,
    values: [kind, now],
  })
  return rows[0]?.due === true
}

interface Take {
  readonly kind: string
  /** Whether a key begins with its owner and a colon, and owners take turns. */
  readonly turns?: boolean
  readonly now: Date
  readonly limit: number
  /** Behind whom turns begin. */
  readonly behind?: string
}

/** Lets nobody else derive a kind until the transaction ends. */
export async function lockDerivation(db: Queryable, kind: string): Promise<void> {
  await db.query({
    name: 'lock-derivation',
    text: 'select pg_advisory_xact_lock($1, hashtext($2))',
    values: [lockClasses.derivation, kind],
  })
}

/**
 * Takes due keys of a kind, the oldest or, with `turns`, some of each owner, and deletes all their marks, later ones too.
 * Reads at most `limit` marks, or the marks of at most `limit` keys. Holds the kind's lock until the transaction ends. A mark
 * made meanwhile is not seen and stays. The caller derives in later statements, which see every row that the deleted marks
 * stood for.
 */
export async function takeDue(
  db: Queryable,
  { kind, turns = false, now, limit, behind = randomBytes(20).toString('hex') }: Take,
): Promise<DueKey[]> {
  await lockDerivation(db, kind)
  const values = [kind, now, limit]
  if (!turns) return (await db.query<DueKey>({ name: 'take-due', text: byAge, values })).rows
  // Where the planner does not know that the queue is long, it would read all of a kind and sort it for each turn.
  const letSort = (value: 'on' | 'off') => db.query(`select set_config('enable_sort', '${value}', true)`)
  await letSort('off')
  const { rows } = await db.query<DueKey>({ text: byTurns, values: [...values, behind] })
  await letSort('on')
  return rows
}

/** Deletes the marks of the keys in `picked`. Whatever the planner thinks of the queue, the index of keys leads to them. */
const take = (picked: string) => `
with recursive ${picked},
mark as (
  select own.ctid
    from picked
   cross join lateral (
     select ctid from due where kind = $1 and key collate "C" between picked.key and picked.key order by key collate "C" offset 0
   ) own
),
taken as (delete from due where ctid = any (array(select ctid from mark)) returning key, attempts)
select key, max(attempts) as attempts from taken join picked using (key) group by key order by min(place), key`

const byAge = take(`picked as materialized (
  select distinct key, 0 as place
    from (select key from due ${inTurn('$1', '$2')} limit $3) oldest
)`)

const ofKind = 'from due where kind = $1 and due_at <= $2'
/** The owner after another among those due; after the last one, the first. */
const nextOwner = (owner: string) => `coalesce(
    (select split_part(key, ':', 1) ${ofKind} and key collate "C" > ${owner} || ';' order by key collate "C" limit 1),
    (select split_part(key, ':', 1) ${ofKind} order by key collate "C" limit 1))`

/** Everybody's first key before the second of any. `turn` goes round until it meets itself. */
const byTurns = take(`turn as (
  select ${nextOwner('$4::text')} as owner union select ${nextOwner('turn.owner')} from turn
),
turns as materialized (select row_number() over () as turn, owner from (select owner from turn limit $3) few),
share as materialized (select ceil($3::float8 / count(*))::bigint as keys from turns),
picked as materialized (
  select key, row_number() over (order by nth, turn) as place
    from turns
   cross join lateral (
     select key, row_number() over (order by key collate "C") as nth
       from (select distinct on (key collate "C") key
               ${ofKind} and key collate "C" > owner || ':' and key collate "C" < owner || ';'
              order by key collate "C" limit (select keys from share)) few
   ) own
   order by place
   limit $3
)`)

/** Marks keys of a kind as due at a time; default: at once, before all that have a time. */
export async function markDue(
  db: Queryable,
  kind: string,
  keys: readonly (string | number)[],
  { dueAt, attempts = 0 }: { readonly dueAt?: Date; readonly attempts?: number } = {},
): Promise<void> {
  await db.query({
    name: 'mark-due',
    text: `
insert into due (kind, key, due_at, attempts)
select $1, key, coalesce($3::timestamptz, '-infinity'), $4 from unnest($2::text[]) as marked (key)`,
    values: [kind, keys, dueAt ?? null, attempts],
  })
}

/** A key that comes due by time alone. */
export interface LaterKey {
  readonly key: string | number
  readonly dueAt: Date
}

/** Marks each of some keys of a kind as due at a time of its own. */
export async function markLater(db: Queryable, kind: string, later: readonly LaterKey[]): Promise<void> {
  await db.query({
    name: 'mark-later',
    text: `
insert into due (kind, key, due_at)
select $1, key, due_at from unnest($2::text[], $3::timestamptz[]) as marked (key, due_at)`,
    values: [kind, later.map(({ key }) => key), later.map(({ dueAt }) => dueAt)],
  })
}

/** Marks every key of a kind as due at once. Returns how many keys of it are due then. */
export async function markAll(db: Queryable, kind: KindName): Promise<number> {
  const all: readonly KeyRows[] = kinds[kind].all
  const keys = all.map(({ table, key }) => `select ${key} as key from ${table}`).join(' union all ')
  if (all.length > 0) {
    const text = `insert into due (kind, key) select distinct $1, key from (${keys}) whole where key is not null`
    await db.query({ text, values: [kind] })
  }
  const { rows } = await db.query<{ keys: number }>({
    name: 'count-keys',
    text: `select count(distinct key) as keys from due where kind = $1 and due_at = '-infinity'`,
    values: [kind],
  })
  return rows[0]?.keys ?? 0
}

/** How much of a kind there is to do, each counted up to `mostWaiting`. */
interface Waiting {
  readonly kind: string
  /** Marks that are due. */
  readonly waiting: number
  /** Keys whose last derivation failed. */
  readonly failing: number
  /** Seconds for which the first mark in the queue has been due; 0: none is. */
  readonly oldest: number
}

export async function countWaiting(db: Queryable, kinds: readonly string[], now: Date): Promise<Waiting[]> {
  const { rows } = await db.query<Waiting>({
    name: 'count-waiting',
    text: `
select k.kind,
       (select count(*) from (select from due ${inTurn('k.kind', '$2')} limit $3) w) as waiting,
       (select count(*)
          from (select distinct key from due d where d.kind = k.kind and d.attempts > 0 limit $3) f) as failing,
       coalesce((select greatest(0, extract(epoch from $2 - greatest(d.marked_at, d.due_at)))
                   from due d where d.kind = k.kind and d.due_at <= $2 order by d.due_at, d.seq limit 1), 0)::float8 as oldest
  from unnest($1::text[]) with ordinality as k (kind, place)
 order by k.place`,
    values: [kinds, now, mostWaiting],
  })
  return rows
}

/** A key that has failed at least this often; undefined: none has. */
export async function failingKey(
  db: Queryable,
  attempts: number,
): Promise<(DueKey & { readonly kind: string }) | undefined> {
  const { rows } = await db.query<DueKey & { kind: string }>({
    name: 'failing-key',
    text: 'select kind, key, attempts from due where attempts > 0 and attempts >= $1 order by attempts desc, kind, key limit 1',
    values: [attempts],
  })
  return rows[0]
}
