import { fork } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { busiestChain } from '../../config/chains.ts'
import { inTransaction } from '../../db/pool.ts'
import { copyAlone, writeRows } from '../copy-floor.ts'
import type { Run } from '../measured-run.ts'
import { chunkBlocks } from '../payment-chain.ts'
import { type Curve, piecesOf, watchLoad } from './curve.ts'
import { command } from './processes.ts'
import type { Shape } from './shape.ts'
import { say } from './show.ts'

export interface Loaded {
  readonly rows: number
  readonly rowsPerSecond: number
  /** Rows a second of each tenth of the load, by the number of rows at its end. */
  readonly pieces: Readonly<Record<number, number>>
  /** Rows a second of COPY alone, into a table with the same key and indexes. */
  readonly copyRowsPerSecond: number
  readonly walBytesPerRow: number
  /** Bytes of table and indexes per row. */
  readonly bytesPerRow: number
}

interface Portal {
  readonly url: string
  stop(): void
}

const entry = fileURLToPath(new URL('../portal/main.ts', import.meta.url))
/** Rows of the measurement of COPY alone, at most. */
const floorRows = 1_000_000

/** A Portal of the rehearsal's chain in a process of its own, which keeps its answers in the folder. */
export async function startPortal({ payments }: Shape, folder: string): Promise<Portal> {
  const chunks = (payments.lastBlock - payments.firstBlock + 1) / chunkBlocks
  const child = fork(entry, [String(chunks), join(folder, 'answers'), String(payments.firstBlock)])
  const [url] = (await once(child, 'message')) as [string]
  return { url, stop: () => child.disconnect() }
}

/** Runs the backfill of a range as an operator does; it resumes an interrupted one. */
export function backfill(
  range: { readonly from: number; readonly to: number },
  env: NodeJS.ProcessEnv,
  extra: readonly string[] = [],
): Promise<Run> {
  const args = ['--chain', busiestChain, '--from', String(range.from), '--to', String(range.to), ...extra]
  const heard = (text: string) => {
    for (const line of text.split('\n')) if (line !== '') say(`  ${line}`)
  }
  return command('processors/backfill/main.ts', args, env, { heard })
}

interface LoadOptions {
  readonly folder: string
  readonly pool: pg.Pool
  readonly shape: Shape
  readonly env: NodeJS.ProcessEnv
  /** Curve of the interrupted load so far; empty for a new one. */
  readonly curve: Curve
  /** Saves the curve so far. */
  readonly keep: (curve: Curve) => Promise<void>
}

/** Loads the history up to the edge and measures it. */
export async function loadHistory({ folder, pool, shape, env, curve, keep }: LoadOptions): Promise<Loaded> {
  const watch = watchLoad(pool, curve, keep)
  await backfill(shape.loaded, env).finally(() => watch.stop())
  const whole = await watch.stop()
  const { rows } = await pool.query<{ rows: number; bytes: number }>(
    `select (select count(*)::int from settlement where chain = $1) as rows,
            (select sum(pg_total_relation_size(relid))::float8 from pg_partition_tree('settlement')) as bytes`,
    [busiestChain],
  )
  const { rows: count, bytes } = rows[0] as { rows: number; bytes: number }
  const { seconds, walBytes } = whole.at(-1) ?? { seconds: 0, walBytes: 0 }
  return {
    rows: count,
    rowsPerSecond: Math.round(count / seconds),
    pieces: piecesOf(whole),
    copyRowsPerSecond: await copyFloor(pool, folder),
    walBytesPerRow: Math.round(walBytes / count),
    bytesPerRow: Math.round(bytes / count),
  }
}

/** Rows a second of COPY alone. */
async function copyFloor(pool: pg.Pool, folder: string): Promise<number> {
  const place = join(folder, 'floor')
  await mkdir(place)
  await chmod(place, 0o777) // the server, another user when this is root, writes there
  try {
    const table = await largestPartition(pool)
    await pool.query(`drop table if exists rehearsal_floor`)
    return await inTransaction(pool, async (client) => {
      const count = await writeRows(client, table, join(place, 'rows'), floorRows)
      await client.query(`create table rehearsal_floor (like ${table} including all)`)
      const seconds = await copyAlone(client, 'rehearsal_floor', join(place, 'rows'))
      await client.query('drop table rehearsal_floor')
      return Math.round(count / seconds)
    })
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

/** Name of the largest partition of the settlements. */
export async function largestPartition(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ name: string }>(
    `select relid::regclass::text as name from pg_partition_tree('settlement') where isleaf
      order by pg_total_relation_size(relid) desc, relid limit 1`,
  )
  return rows[0]?.name as string
}
