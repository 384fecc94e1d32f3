import type { ReadTile } from '../../../transparency/tiles.ts'
import type { Queryable } from '../../pool.ts'
import { type Epoch, epochNow } from './epoch.ts'

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

/**
 * Reads tiles, of the log with this number alone if there is one: those that are asked for at once, as a proof asks, with
 * one statement. It rejects where the log has no such tile, or another log has begun.
 */
export function tileReader(db: Queryable, epoch?: number): ReadTile {
  let coming: { readonly places: Place[]; readonly hashes: Promise<ReadonlyMap<string, Buffer>> } | undefined
  const begin = () => {
    const places: Place[] = []
    const read = () => {
      coming = undefined
      return tilesAt(db, places, epoch)
    }
    return { places, hashes: Promise.resolve().then(read) }
  }
  return async (place) => {
    coming ??= begin()
    coming.places.push(place)
    const hashes = (await coming.hashes).get(nameOf(place))
    if (!hashes) throw new Error(`the transparency log has no tile ${place.number} of level ${place.level}`)
    return hashes
  }
}

const nameOf = ({ level, number }: Place) => `${level} ${number}`

/** Hashes of those tiles that there are. */
async function tilesAt(db: Queryable, places: readonly Place[], epoch: number | undefined) {
  const { rows } = await db.query<Place & { hashes: Buffer }>({
    name: 'transparency-tiles',
    text: `
select tile.level, tile.number, tile.hashes
  from unnest($1::smallint[], $2::bigint[]) wanted (level, number)
  join transparency_tile tile using (level, number)
 where $3::int is null or $3 = (select epoch from ${epochNow} now)`,
    values: [places.map(({ level }) => level), places.map(({ number }) => number), epoch ?? null],
  })
  return new Map(rows.map((tile) => [nameOf(tile), tile.hashes]))
}

/** Entries of the log with a number, from its `first` on, in order. Undefined: it is not the last log, or has none there. */
export async function logEntries(
  db: Queryable,
  { epoch, first, count }: { readonly epoch: number; readonly first: number; readonly count: number },
): Promise<Buffer[] | undefined> {
  const { rows } = await db.query<{ entry: Buffer }>({
    name: 'transparency-log-entries',
    text: `
select entry
  from ${epochNow} now
  join transparency_entry on index >= now.first + $2 and index < now.first + $2 + $3
 where now.epoch = $1
 order by index`,
    values: [epoch, first, count],
  })
  return rows.length > 0 ? rows.map(({ entry }) => entry) : undefined
}

/** Hashes of a tile of the log with a number. Undefined: it is not the last log, or has no such tile. */
export async function logTile(db: Queryable, epoch: number, { level, number }: Place): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ hashes: Buffer }>({
    name: 'transparency-log-tile',
    text: `
select hashes
  from ${epochNow} now
  join transparency_tile on level = $2 and number = $3
 where now.epoch = $1`,
    values: [epoch, level, number],
  })
  return rows[0]?.hashes
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
select c.size, c.note, c.key, now.epoch, now.first
  from transparency_checkpoint c
 cross join ${epochNow} now`,
  })
  return rows[0]
}

/**
 * Puts a cosignature on the last checkpoint, if that is still the one with this text: `cosigned` makes the note with it of
 * the note that is there. Call it in a transaction.
 */
export async function cosignCheckpoint(
  db: Queryable,
  isMeant: (note: string) => boolean,
  cosigned: (note: string) => string,
): Promise<void> {
  const { rows } = await db.query<{ note: string }>({
    name: 'transparency-checkpoint-to-cosign',
    text: 'select note from transparency_checkpoint for update',
  })
  const note = rows[0]?.note
  if (note === undefined || !isMeant(note)) return
  await db.query({
    name: 'cosign-transparency-checkpoint',
    text: 'update transparency_checkpoint set note = $1',
    values: [cosigned(note)],
  })
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
