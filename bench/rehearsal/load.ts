import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { busiestChain } from '../busiest.ts'
import type { Run } from '../measured-run.ts'
import { chunkBlocks } from '../payment-chain.ts'
import { command } from './installation.ts'
import type { Shape } from './shape.ts'
import { say } from './show.ts'

export interface Loaded {
  readonly rows: number
  readonly rowsPerSecond: number
  readonly peakMegabytes: number
  readonly walBytesPerRow: number
  /** Of the table and its indexes. */
  readonly bytesPerRow: number
}

interface Portal {
  readonly url: string
  stop(): void
}

const entry = fileURLToPath(new URL('../portal/main.ts', import.meta.url))

/** A Portal of the rehearsal's chain in a process of its own, which keeps its answers in the folder. */
export async function startPortal({ payments }: Shape, folder: string): Promise<Portal> {
  const chunks = (payments.lastBlock - payments.firstBlock + 1) / chunkBlocks
  const child = fork(entry, [String(chunks), join(folder, 'answers'), String(payments.firstBlock)])
  const [url] = (await once(child, 'message')) as [string]
  return { url, stop: () => child.disconnect() }
}

/** The backfill of a range, as an operator runs it; goes on where an interrupted one stood. */
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

/** Loads the history up to the edge, and says what it cost. */
export async function loadHistory(pool: pg.Pool, { loaded }: Shape, env: NodeJS.ProcessEnv): Promise<Loaded> {
  const wal = async () => {
    const { rows } = await pool.query<{ at: number }>(`select pg_current_wal_lsn() - '0/0' as at`)
    return Number(rows[0]?.at)
  }
  const before = await wal()
  const { seconds, peakBytes } = await backfill(loaded, env)
  const written = (await wal()) - before
  const { rows } = await pool.query<{ rows: number; bytes: number }>(
    `select (select count(*)::int from settlement where chain = $1) as rows,
            (select sum(pg_total_relation_size(relid))::float8 from pg_partition_tree('settlement')) as bytes`,
    [busiestChain],
  )
  const { rows: count, bytes } = rows[0] as { rows: number; bytes: number }
  return {
    rows: count,
    rowsPerSecond: Math.round(count / seconds),
    peakMegabytes: Math.round(peakBytes / 1024 ** 2),
    walBytesPerRow: Math.round(written / count),
    bytesPerRow: Math.round(bytes / count),
  }
}
