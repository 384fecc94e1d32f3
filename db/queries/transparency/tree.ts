import type { Queryable } from '../../pool.ts'
import type { Epoch } from './epoch.ts'

// Rows of the transparency log: db/schema/tables/17_transparency.sql.

interface Place {
  readonly level: number
  readonly number: number
}

interface LoggedEntry {
  readonly subject: string
  readonly entry: Buffer
}

/** The last checkpoint that was signed. */
interface SignedCheckpoint {
  /** Entries in its tree. */
  readonly size: number
  readonly note: string
  /** Name, id and public key of the signer. */
  readonly key: string
}

/** How many entries there are, in all logs. */
export async function countEntries(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ size: number }>({
    name: 'count-transparency-entries',
    text: 'select coalesce(max(index) + 1, 0) as size from transparency_entry',
  })
  return rows[0]?.size ?? 0
}

/** Appends entries behind the first `size` of all logs. Call it in a transaction in which nobody else does. */
export async function appendEntries(db: Queryable, size: number, entries: readonly LoggedEntry[]): Promise<void> {
  await db.query({
    name: 'append-transparency-entries',
    text: `
insert into transparency_entry (index, subject, entry)
select $1 + place - 1, subject, entry
  from unnest($2::text[], $3::bytea[]) with ordinality as coming (subject, entry, place)`,
    values: [size, entries.map(({ subject }) => subject), entries.map(({ entry }) => entry)],
  })
}

/** Entries from a number on, through all logs, in order. */
export async function entriesFrom(db: Queryable, first: number, count: number): Promise<Buffer[]> {
  const { rows } = await db.query<{ entry: Buffer }>({
    name: 'transparency-entries-from',
    text: 'select entry from transparency_entry where index >= $1 and index < $1 + $2 order by index',
    values: [first, count],
  })
  return rows.map(({ entry }) => entry)
}

/** Hashes of a tile. Throws when there is none. */
export async function tileHashes(db: Queryable, { level, number }: Place): Promise<Buffer> {
  const { rows } = await db.query<{ hashes: Buffer }>({
    name: 'transparency-tile',
    text: 'select hashes from transparency_tile where level = $1 and number = $2',
    values: [level, number],
  })
  if (!rows[0]) throw new Error(`the transparency log has no tile ${number} of level ${level}`)
  return rows[0].hashes
}

/** Stores tiles, which take the place of their shorter beginnings. */
export async function storeTiles(
  db: Queryable,
  tiles: readonly (Place & { readonly hashes: Buffer })[],
): Promise<void> {
  await db.query({
    name: 'store-transparency-tiles',
    text: `
insert into transparency_tile (level, number, hashes)
select * from unnest($1::smallint[], $2::bigint[], $3::bytea[])
    on conflict (level, number) do update set hashes = excluded.hashes`,
    values: [tiles.map(({ level }) => level), tiles.map(({ number }) => number), tiles.map(({ hashes }) => hashes)],
  })
}

/** The last checkpoint, and the log that it is of. Undefined: nothing was ever signed. */
export async function lastCheckpoint(db: Queryable): Promise<(SignedCheckpoint & Epoch) | undefined> {
  const { rows } = await db.query<SignedCheckpoint & Epoch>({
    name: 'transparency-checkpoint',
    text: `
select c.size, c.note, c.key, coalesce(e.epoch, 1) as epoch, coalesce(e.first, 0) as first
  from transparency_checkpoint c
  left join (select epoch, first from transparency_epoch order by epoch desc limit 1) e on true`,
  })
  return rows[0]
}

/** Stores a checkpoint in place of the one before. */
export async function storeCheckpoint(db: Queryable, { size, note, key }: SignedCheckpoint): Promise<void> {
  await db.query({
    name: 'store-transparency-checkpoint',
    text: `
insert into transparency_checkpoint (size, note, key) values ($1, $2, $3)
    on conflict ((true)) do update set size = excluded.size, note = excluded.note, key = excluded.key`,
    values: [size, note, key],
  })
}
