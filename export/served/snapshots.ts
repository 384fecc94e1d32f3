import type pg from 'pg'
import { inTransaction } from '../../db/pool.ts'
import { beginSnapshot, type ExportColumn, snapshotTime } from '../../db/queries/exports/exports.ts'
import { servedView } from '../../db/queries/exports/served-rows.ts'
import { logHead } from '../../db/queries/log/log.ts'
import type { Installation } from '../../db/queries/sql/installation.ts'
import type { ProofTerms } from '../../trust/proof/published.ts'
import { furtherColumns } from '../whole-proofs.ts'
import { claimLines } from './claims.ts'
import { datasets } from './datasets.ts'
import type { ServedManifest } from './manifest.ts'
import type { Pace } from './pace.ts'
import { copiedLines, division, type Part, type Place, writeRows } from './parts.ts'
import { writeProfiles } from './profiles.ts'

/** Order to write the snapshots of all datasets of state, from one snapshot of the database. */
interface SnapshotTask {
  /** UTC day that the snapshots are named after. */
  readonly day: string
  /** Root folder of all served files. */
  readonly folder: string
  /** Columns by name of the dataset. */
  readonly columns: ReadonlyMap<string, readonly ExportColumn[]>
  readonly installation: Installation
  /** What claims are bound to. */
  readonly terms: ProofTerms
}

/** The files written, and the position of the log at the same moment. */
interface WrittenSnapshots {
  /** Time of the database snapshot that the rows come from, ISO. */
  readonly snapshotAt: string
  readonly log: NonNullable<ServedManifest['log']>
  readonly parts: readonly (Part & { readonly dataset: string })[]
}

/** Writes a snapshot of every dataset of state; `tell` prints a line for the operator. */
export function writeSnapshots(
  pool: pg.Pool,
  { day, folder, columns, installation, terms }: SnapshotTask,
  pace: Pace,
  tell: (line: string) => void,
): Promise<WrittenSnapshots> {
  return inTransaction(pool, async (client) => {
    await beginSnapshot(client)
    const snapshotAt = await snapshotTime(client)
    const { epoch, head } = await logHead(client)
    const all: WrittenSnapshots['parts'][number][] = []
    for (const { name, from, order } of datasets.filter(({ by }) => by === 'snapshot')) {
      const place: Place = { folder, partition: `${name}/snapshot=${day}` }
      const leftOut = (fid: number) => tell(`${name}: agent ${fid} cannot be shown and is left out`)
      const ofView = columns.get(name) ?? []
      const write = async (): Promise<Part[]> => {
        if (from === 'log') return writeProfiles(client, place, pace, { installation, leftOut })
        const further = furtherColumns(name)
        if (further.length > 0) {
          const lines = claimLines(client, ofView, { terms, at: new Date(snapshotAt) }, pace)
          return writeRows(lines, [...ofView, ...further], place, division.snapshot)
        }
        const view = await servedView(client, from, ofView)
        return writeRows(copiedLines(client, { view, order }, pace), view.columns, place, division.snapshot)
      }
      const parts = await write()
      all.push(...parts.map((part) => ({ dataset: name, ...part })))
      tell(`${place.partition}: ${parts.reduce((sum, { rows }) => sum + rows, 0)} rows`)
    }
    return { snapshotAt, log: { epoch, seq: head, since: `${epoch.slice(0, 8)}-${head}` }, parts: all }
  })
}
