import { readFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { migrate } from '../db/migrate.ts'
import { createPool } from '../db/pool.ts'
import type { ServedManifest } from '../export/served/manifest.ts'
import { startApi } from '../test/support/api/api.ts'
import { measure } from './measured-run.ts'
import { startTemporaryServer } from './temporary-server.ts'
import { fillWorld, type WorldSize } from './world.ts'

const settings = { shared_buffers: '1GB', max_wal_size: '8GB', checkpoint_timeout: '30min' }

/** Writes all served files of a world, then reads the log of all its profiles; prints a table and one JSON object. */
export const benchExports = (size: WorldSize) =>
  inWorld(size, async ({ pool, databaseUrl, folder }) => {
    await countHours(pool)
    const served = join(folder, 'served')
    const env = { DATABASE_URL: databaseUrl, EXPORT_DIR: served }
    const args = ['run', '--silent', 'export', '--', '--served', '--rows-per-second', '10000000']
    const { seconds, peakBytes, largestBytes } = await measure('npm', args, env)
    const rate = rateOf(JSON.parse(await readFile(join(served, 'manifest.json'), 'utf8')))
    const [peak, largest] = [peakBytes, largestBytes].map((bytes) => Math.round(bytes / 1024 ** 2))
    tell([
      ['settlements written a second', Math.round(rate).toString()],
      ['everything, start of the command included', `${seconds.toFixed(1)} s`],
      ['memory of the process that writes, at most', `${largest} MB`],
      ['memory of all processes of the command at most', `${peak} MB`],
    ])
    const logSeconds = await tellLog(pool, size)
    const figures = {
      ...size,
      rows_per_second: Math.round(rate),
      peak_mb: peak,
      largest_mb: largest,
      seconds,
      log_seconds: logSeconds,
    }
    process.stdout.write(`${JSON.stringify({ bench: 'exports', ...figures })}\n`)
  })

/** Reads the log of all profiles of a world alone. */
export const benchLog = (size: WorldSize) =>
  inWorld(size, async ({ pool }) => {
    const seconds = await tellLog(pool, size)
    process.stdout.write(`${JSON.stringify({ bench: 'log', ...size, seconds })}\n`)
  })

async function tellLog(pool: pg.Pool, { agents }: WorldSize): Promise<number> {
  const seconds = await readLog(pool, agents)
  tell([[`the log of ${agents} profiles, read whole`, `${seconds.toFixed(1)} s`]])
  return seconds
}

function tell(rows: readonly (readonly [string, string])[]): void {
  for (const [what, figure] of rows) process.stdout.write(`${what.padEnd(60)} ${figure}\n`)
}

interface World {
  readonly pool: pg.Pool
  readonly databaseUrl: string
  /** Folder to write files to. */
  readonly folder: string
}

async function inWorld(size: WorldSize, work: (world: World) => Promise<void>): Promise<void> {
  const { folder, postgres, remove } = await startTemporaryServer('exports', { durable: false, settings })
  const pool = createPool({ databaseUrl: postgres.databaseUrl, name: 'bench', max: 4, statementTimeoutMs: 0 })
  try {
    process.stdout.write(`filling ${size.settlements} settlements of ${size.agents} agents\n`)
    await migrate(postgres.databaseUrl)
    await fillWorld(pool, size)
    await pool.query(
      `insert into agent_change (fid, kind, changed_at)
       select fid, 'upsert', now() from agent where fid not in (select fid from agent_activity) order by fid`,
    )
    await pool.query('vacuum (analyze)')
    process.stdout.write(`${cpus().length} cores, the database among them\n`)
    await work({ pool, databaseUrl: postgres.databaseUrl, folder })
  } finally {
    await pool.end()
    await remove()
  }
}

/** Fills the part of the settlement roll-up that exports read. */
async function countHours(pool: pg.Pool): Promise<void> {
  await pool.query(
    `insert into settlement_hour_total (chain, hour, overload, n, amount)
     select chain, date_trunc('hour', block_timestamp, 'UTC'), selector not in ('\\xe3ee160e', '\\xef55bec6'), count(*), sum(amount)
       from settlement group by 1, 2, 3`,
  )
  await pool.query('alter table settlement_rollup disable trigger user')
  await pool.query('update settlement_rollup set next_block = (select max(finalized_block) + 1 from chain_state)')
  await pool.query('vacuum (analyze)')
}

/** Settlements a second, from the end of the first file of them to the end of the last. */
function rateOf({ files }: ServedManifest): number {
  const written = files
    .filter(({ dataset }) => dataset === 'settlements')
    .map(({ rows, written_at }) => ({ rows, at: Date.parse(written_at) }))
    .sort((a, b) => a.at - b.at)
  const took = (written.at(-1)?.at ?? 0) - (written[0]?.at ?? 0)
  return (written.slice(1).reduce((sum, { rows }) => sum + rows, 0) / took) * 1_000
}

/** Seconds of reading the log over HTTP, page after page. Throws when a profile is missing. */
async function readLog(pool: pg.Pool, agents: number): Promise<number> {
  const api = await startApi({ pool, url: '' })
  const began = performance.now()
  let lines = 0
  for (let next = '/data/log.ndjson?limit=1000'; next !== ''; ) {
    const answer = await api.get(next)
    for await (const piece of answer.body ?? []) {
      for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) lines++
    }
    const url = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]
    next = url === undefined ? '' : new URL(url).pathname + new URL(url).search
  }
  await api.stop()
  if (lines !== agents) throw new Error(`the log has ${lines} lines instead of ${agents}`)
  return (performance.now() - began) / 1_000
}
