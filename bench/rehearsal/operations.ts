import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import type { ChainSettings } from '../../config/chains.file.ts'
import { busiestChain } from '../../config/chains.ts'
import { retryLocked } from '../../db/lock-retry.ts'
import { migrate } from '../../db/migrate.ts'
import { inTransaction } from '../../db/pool.ts'
import { reserveRange } from '../../processors/backfill/reservation.ts'
import { backfill, largestPartition } from './history-load.ts'
import type { Installation } from './installation.ts'
import { command } from './processes.ts'
import type { Shape } from './shape.ts'
import { say, untilAll } from './show.ts'

/** Seconds by operation. */
export type Durations = Record<string, number>

interface Place {
  readonly folder: string
  readonly installation: Installation
  readonly shape: Shape
  /** Environment of commands. */
  readonly env: NodeJS.ProcessEnv
}

const migrations = fileURLToPath(new URL('../../db/migrations', import.meta.url))
/** Name of the rehearsed migration, which sorts after all others. */
const rehearsed = '9999_rehearsal.sql'
/** Milliseconds between checks whether a partition can be archived, because each runs a command. */
const planPauseMs = 2_000
/** Lock timeout and retries of changes to a table that is being read. */
const lockRetry = { lockTimeoutMs: 500, pauseMs: 500, totalMs: 600_000 }

/** Reserves the edge before the processor writes to its partition, as a backfill does that was killed right after. */
export async function reserveEdge(
  { installation, shape }: Pick<Place, 'installation' | 'shape'>,
  chain: ChainSettings,
) {
  const { from: fromBlock, to: toBlock } = shape.edge
  await reserveRange(installation.pool, chain, { fromBlock, toBlock }, 1)
}

/** Runs an operator's operations while everything runs; returns the seconds of each. */
export async function operate(
  { folder, installation, shape, env }: Place,
  during: (what: string) => void,
): Promise<Durations> {
  const { pool } = installation
  const took: Durations = {}
  const run = async (name: string, work: () => Promise<unknown>) => {
    during(name)
    const began = performance.now()
    await work()
    took[name] = (performance.now() - began) / 1_000
    say(`${name}: ${took[name].toFixed(1)} s`)
  }
  const out = (name: string) => join(folder, name)
  const ofChain = ['--chain', busiestChain]
  await run('edge partition loaded and placed', () => backfill(shape.edge, env))
  await run('loaded rows verified', () => backfill(shape.loaded, env, ['--verify']))
  await run('migration to what is there', () => command('db/main.ts', [], env))
  await run('migration that adds a column', () => addColumn(folder, installation))
  await rm(out('export'), { recursive: true, force: true })
  const parquet = ['--what', 'settlements', ...ofChain, '--format', 'parquet', '--out', out('export')]
  await run('settlements exported to Parquet', () => command('export/main.ts', parquet, env))
  await run('index made and dropped', async () => {
    await pool.query(`create index concurrently rehearsal on ${await largestPartition(pool)} (amount)`)
    await pool.query('drop index concurrently rehearsal')
  })
  await run('partition frozen', async () => pool.query(`vacuum (freeze, analyze) ${await largestPartition(pool)}`))
  await rm(out('served'), { recursive: true, force: true })
  const archive = (more: readonly string[], heard?: (text: string) => void) =>
    command('export/archive/main.ts', [...ofChain, ...more], { ...env, EXPORT_DIR: out('served') }, { heard })
  const before = ['--before', shape.archivedBefore]
  const plan = (heard: (text: string) => void) => archive([...before, '--plan'], heard)
  await run('first partition summed up', () => untilSealed(plan))
  await run('first partition archived', () => archive(before))
  await run('archived partition brought back', () => archive(['--restore']))
  await run('backup', async () => {
    await rm(out('backup'), { recursive: true, force: true })
    await command('db/backup/main.ts', ['--out', out('backup')], {}, { cwd: installation.home })
  })
  return took
}

/** Waits until the plan of an archive reports every partition as sealed; throws when that makes no progress. */
function untilSealed(plan: (heard: (text: string) => void) => Promise<unknown>): Promise<number> {
  return untilAll('partitions that can be archived', async () => {
    await delay(planPauseMs)
    let told = ''
    await plan((text) => {
      told += text
    })
    const partitions = told.split('\n').filter((line) => line.includes(', blocks '))
    const sealed = partitions.filter((line) => line.includes('; sealed, '))
    return { done: sealed.length, of: Math.max(1, partitions.length) }
  })
}

/** Migrates the database to a schema with one more column, as a release does, and back. */
async function addColumn(folder: string, { databaseUrl, pool }: Installation): Promise<void> {
  const next = join(folder, 'migrations')
  await rm(next, { recursive: true, force: true })
  await mkdir(next)
  await cp(migrations, next, { recursive: true })
  await writeFile(join(next, rehearsed), 'alter table settlement add column rehearsed int;\n')
  await migrate(databaseUrl, { migrations: new URL(`file://${next}/`) })
  await withoutReadersWaiting(pool, async (client) => {
    await client.query('alter table settlement drop column rehearsed')
    await client.query('delete from schema_migration where name = $1', [rehearsed])
  })
}

/** Runs `work` with a short lock timeout and retries, so that readers do not queue behind it. */
export function withoutReadersWaiting(pool: pg.Pool, work: (client: pg.ClientBase) => Promise<unknown>): Promise<void> {
  return retryLocked(lockRetry, () =>
    inTransaction(pool, async (client) => {
      await client.query(`set local lock_timeout = ${lockRetry.lockTimeoutMs}`)
      await work(client)
    }),
  )
}
