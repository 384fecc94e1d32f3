import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import type { BlockRange } from '../../db/block-range.ts'
import { isUnlistedSince } from '../../db/queries/exports/exports.ts'
import { auditedSince, type FactDay, factSets } from '../../db/queries/exports/finished-days.ts'
import { archivedUntil } from '../../db/queries/rollup/cursor.ts'
import type { Installation } from '../../db/queries/sql/installation.ts'
import { day } from '../../ops/time.ts'
import type { ProofTerms } from '../../trust/proof/published.ts'
import { type DescribedColumn, exportColumns } from '../manifest.ts'
import { furtherColumns } from '../whole-proofs.ts'
import { meets, refuseLost } from './archived-days.ts'
import { type Dataset, datasets } from './datasets.ts'
import { writeDay } from './day-writer.ts'
import { emptyManifest, readServed, type ServedFile, type ServedManifest, writeServed } from './manifest.ts'
import type { Pace } from './pace.ts'
import { writingFolder } from './parts.ts'
import { writeSnapshots } from './snapshots.ts'

export interface RoundOptions {
  readonly pool: pg.Pool
  /** Root folder of all served files. */
  readonly folder: string
  readonly pace: Pace
  readonly installation: Installation
  /** What claims are bound to. */
  readonly terms: ProofTerms
  readonly now: () => Date
  /** Prints a line of progress for the operator. */
  readonly tell: (line: string) => void
  /** Restricts the round to one chain's settlements of days up to `untilDay`. Absent: everything. */
  readonly only?: {
    readonly chain: string
    readonly untilDay: string
    /** Blocks whose files are written again, as if they were out of date. */
    readonly rewrite?: BlockRange | undefined
  }
}

/** Days written at once: while one waits for the database or the disk, the other is encoded, which keeps a core busy. */
const daysAtOnce = 2
/** Days that a replaced file is kept for readers that have an older list. */
const replacedDays = 7
/** Interval at which the list is checkpointed during a round: after a kill, files not in it are written again. */
const listEveryMs = 10_000

type Columns = ReadonlyMap<string, readonly DescribedColumn[]>
type FactName = keyof typeof factSets

/**
 * Runs one round: writes the finished days whose files are missing or out of date, then today's snapshots (UTC) if
 * there are none yet, or an account has taken itself out since: then none from before are kept. Returns the number of new files. It must be the only writer of the folder. Throws a Refusal, before
 * anything is changed, when the list lacks archived settlements.
 */
export async function serveRound(options: RoundOptions): Promise<number> {
  const { pool, folder, now } = options
  await refuseLost(pool, folder)
  const columns: Columns = new Map(
    await Promise.all(
      datasets
        .filter(({ from }) => from !== 'log')
        .map(async ({ name, from }) => [name, await exportColumns(pool, from)] as const),
    ),
  )
  const described = datasets.map(({ name, about, by, licence }) => {
    return {
      name,
      about,
      by,
      columns: [...(columns.get(name) ?? []), ...furtherColumns(name)],
      ...(licence && { licence }),
    }
  })
  const list = new ServedList(folder, { ...emptyManifest, ...(await readServed(folder)), datasets: described }, now)
  const { only } = options
  for (const name of only ? (['settlements'] as const) : (Object.keys(factSets) as FactName[])) {
    const days = await factSets[name].days(pool)
    const isArchived = await archivedDays(pool, name)
    await list.put(goneDays(list.manifest, name, days, isArchived), [])
    const wanted = only ? days.filter(({ chain, day }) => chain === only.chain && day <= only.untilDay) : days
    const open = wanted.filter((day) => !isArchived(day))
    const waiting = await daysToWrite(options, list.manifest, name, open, columns)
    await atOnce(daysAtOnce, waiting, async (day) => {
      const files = await writeDayFiles(options, name, day, columns)
      if (files) await list.put(({ dataset, partition }) => dataset === name && isSameDay(partition, day), files)
    })
  }
  await list.write() // the days are served, whatever comes of the snapshots
  if (!only) await putSnapshots(options, list, columns)
  const isKept = ({ until }: { readonly until: string }) => Date.parse(until) > now().getTime()
  list.manifest = { ...list.manifest, replaced: list.manifest.replaced.filter(isKept) }
  await list.write()
  await sweep(folder, list.manifest)
  return list.newFiles
}

async function putSnapshots(options: RoundOptions, list: ServedList, columns: Columns): Promise<void> {
  const { pool, now } = options
  const today = now().toISOString().slice(0, 10)
  const last = list.manifest.files.find(({ partition }) => partition.snapshot !== undefined)
  const hasUnlisted = last !== undefined && (await isUnlistedSince(pool, last.snapshot_at))
  if (last?.partition.snapshot === today && !hasUnlisted) return
  const { files, log } = await writeSnapshotFiles(options, today, columns)
  list.manifest = { ...list.manifest, log } // first: the list may be written as soon as it names the profiles
  // In one step with the new ones: a round that is killed in between would not come back to those from before.
  if (hasUnlisted) list.forget(isSnapshot)
  await list.put(({ path }) => isSnapshot(path), files)
}

const isSnapshot = (path: string) => path.includes('/snapshot=')

/** The list of the folder's files, written now and then while days are written concurrently. */
class ServedList {
  newFiles = 0
  #writtenAt = performance.now()
  #writing = Promise.resolve()

  constructor(
    private readonly folder: string,
    public manifest: ServedManifest,
    private readonly now: () => Date,
  ) {}

  /** Calls run one after the other. */
  write(): Promise<void> {
    this.#writtenAt = performance.now()
    this.#writing = this.#writing.then(() => {
      this.manifest = { ...this.manifest, written_at: this.now().toISOString() }
      return writeServed(this.folder, this.manifest)
    })
    return this.#writing
  }

  /** Takes files off the list, replaced ones too, which are not kept. It is written with what is put next. */
  forget(isGone: (path: string) => boolean): void {
    const { files, replaced } = this.manifest
    const left = {
      files: files.filter(({ path }) => !isGone(path)),
      replaced: replaced.filter(({ path }) => !isGone(path)),
    }
    this.manifest = { ...this.manifest, ...left }
  }

  /** Puts new files on the list in place of those for which `isOld` is true. */
  async put(isOld: (file: ServedFile) => boolean, files: readonly ServedFile[]): Promise<void> {
    this.manifest = replaced(this.manifest, isOld, files, this.now())
    this.newFiles += files.length
    if (performance.now() - this.#writtenAt > listEveryMs) await this.write()
  }
}

/** Runs `work` on the members in order, at most `count` at a time; after an error no further one is begun. */
async function atOnce<T>(count: number, members: readonly T[], work: (member: T) => Promise<void>): Promise<void> {
  const waiting = [...members]
  const works = Array.from({ length: count }, async () => {
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await work(next)
    } finally {
      waiting.length = 0
    }
  })
  for (const outcome of await Promise.allSettled(works)) if (outcome.status === 'rejected') throw outcome.reason
}

const isSameDay = (one: ServedFile['partition'], { chain, day }: Pick<FactDay, 'chain' | 'day'>) =>
  one.chain === chain && one.day === day

/**
 * A test for days that have archived settlements: for these the files are the only copy and stay as they are, whatever
 * the database says of the day.
 */
async function archivedDays(pool: pg.Pool, name: FactName): Promise<(day: ServedFile['partition']) => boolean> {
  if (name !== 'settlements') return () => false
  const until = await archivedUntil(pool)
  return ({ chain = '', day = '' }) => (until.get(chain)?.toISOString() ?? '') >= day
}

/** A test for files whose day no longer has rows. */
function goneDays(
  { files }: ServedManifest,
  name: FactName,
  days: readonly FactDay[],
  isArchived: (day: ServedFile['partition']) => boolean,
) {
  const there = new Set(days.map(({ chain, day }) => `${chain} ${day}`))
  const gone = new Set(
    files
      .filter(({ dataset, partition }) => dataset === name && !there.has(`${partition.chain} ${partition.day}`))
      .filter(({ partition }) => !isArchived(partition))
      .map(({ path }) => path),
  )
  return ({ path }: ServedFile) => gone.has(path)
}

interface DayToWrite extends FactDay {
  readonly range: BlockRange
}

/** Fingerprint of a day (rows, sums, columns): when it changes, the day's files are written again. */
const stateOf = ({ rows, state }: Pick<FactDay, 'rows' | 'state'>, columns: readonly DescribedColumn[]) =>
  `${rows} ${state} ${columns.map(({ name }) => name).join(',')}`

/** The days whose files are missing or out of date. Days that are not fully rolled up are left to a later round. */
async function daysToWrite(
  { pool, only }: RoundOptions,
  { files }: ServedManifest,
  name: FactName,
  days: readonly FactDay[],
  columns: Columns,
): Promise<DayToWrite[]> {
  const own = files.filter(({ dataset }) => dataset === name)
  const audited = await auditedSince(
    pool,
    name,
    own.map(({ partition, min_block = 0, max_block = -1, snapshot_at }) => ({
      chain: partition.chain ?? '',
      fromBlock: min_block,
      toBlock: max_block,
      writtenAt: snapshot_at,
    })),
  )
  const isRewritten = ({ partition, min_block = 0, max_block = -1 }: ServedFile) =>
    only?.rewrite !== undefined && partition.chain === only.chain && meets(only.rewrite, min_block, max_block)
  const asWritten = new Map(
    own
      .filter((file, at) => !audited[at] && !isRewritten(file))
      .map(({ partition, state }) => [`${partition.chain} ${partition.day}`, state] as const),
  )
  const present = columns.get(name) ?? []
  const waiting = days.filter((day) => asWritten.get(`${day.chain} ${day.day}`) !== stateOf(day, present))
  const ranges = await factSets[name].ranges(pool, waiting)
  return waiting.flatMap((day, at) => {
    const range = ranges[at]
    return range ? [{ ...day, range }] : []
  })
}

/** Writes one day's files. Undefined: the day changed meanwhile, and is left to the next round. */
async function writeDayFiles(
  { pool, folder, pace, now, tell }: RoundOptions,
  name: FactName,
  { range, ...day }: DayToWrite,
  columns: Columns,
): Promise<ServedFile[] | undefined> {
  const { from, order } = datasets.find((one) => one.name === name) as Dataset
  const partition = `${name}/chain=${day.chain}/day=${day.day}`
  const ofDay = columns.get(name) ?? []
  const task = { view: from, order, columns: ofDay, of: { chain: day.chain, ...range }, folder, partition }
  const { snapshotAt, parts } = await writeDay(pool, task, pace)
  const rows = parts.reduce((sum, part) => sum + part.rows, 0)
  if (rows !== day.rows) {
    tell(`${partition}: ${rows} rows instead of ${day.rows}; it is left for the next round`)
    return undefined
  }
  tell(`${partition}: ${rows} rows`)
  return parts.map((part) => ({
    dataset: name,
    ...part,
    partition: { chain: day.chain, day: day.day },
    min_block: range.fromBlock,
    max_block: range.toBlock,
    snapshot_at: snapshotAt,
    written_at: now().toISOString(),
    state: stateOf(day, ofDay),
  }))
}

async function writeSnapshotFiles({ pool, now, tell, ...options }: RoundOptions, day: string, columns: Columns) {
  const { folder, pace, installation, terms } = options
  const task = { day, folder, columns, installation, terms }
  const { snapshotAt, log, parts } = await writeSnapshots(pool, task, pace, tell)
  const whole = { partition: { snapshot: day }, snapshot_at: snapshotAt, written_at: now().toISOString() }
  return { files: parts.map(({ dataset, ...part }) => ({ dataset, ...part, ...whole })), log }
}

/** The list with new files in place of old ones. An old file with the path of a new one does not count as replaced. */
function replaced(
  manifest: ServedManifest,
  isOld: (file: ServedFile) => boolean,
  files: readonly ServedFile[],
  now: Date,
): ServedManifest {
  const present = new Set(files.map(({ path }) => path))
  const until = new Date(now.getTime() + replacedDays * day).toISOString()
  const leaving = manifest.files.filter((file) => isOld(file) && !present.has(file.path))
  return {
    ...manifest,
    files: [...manifest.files.filter((file) => !isOld(file)), ...files].sort((a, b) => (a.path < b.path ? -1 : 1)),
    replaced: [
      ...manifest.replaced.filter(({ path }) => !present.has(path)),
      ...leaving.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256, until })),
    ],
  }
}

const partName = /^part-\d{5}-[0-9a-f]{8}\.(parquet|ndjson\.gz)$/

/** Deletes parts that the list does not name, and files left half written by a kill; other files are left alone. */
async function sweep(folder: string, { files, replaced: old }: ServedManifest): Promise<void> {
  const named = new Set([...files, ...old].map(({ path }) => path))
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !partName.test(entry.name)) continue
    const path = join(entry.parentPath, entry.name)
    if (!named.has(path.slice(join(folder, '/').length))) await rm(path)
  }
  await rm(join(folder, writingFolder), { recursive: true, force: true })
}
