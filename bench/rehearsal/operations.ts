import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ChainSettings } from '../../chains.file.ts'
import { reserveRange } from '../../processors/backfill/reservation.ts'
import { busiestChain } from '../busiest.ts'
import { command, type Installation, type Running } from './installation.ts'
import { backfill } from './load.ts'
import { type Shape, socialChain } from './shape.ts'
import { say, untilAll } from './show.ts'

/** Seconds, by what was done. */
export type Durations = Record<string, number>

interface Place {
  readonly folder: string
  readonly installation: Installation
  readonly shape: Shape
  /** Of commands. */
  readonly env: NodeJS.ProcessEnv
}

const pausedMs = 3_000

/** Reserves the edge before the processor writes to its partition, as a backfill does that was killed right after. */
export async function reserveEdge(
  { installation, shape }: Pick<Place, 'installation' | 'shape'>,
  chain: ChainSettings,
) {
  const { from: fromBlock, to: toBlock } = shape.edge
  await reserveRange(installation.pool, chain, { fromBlock, toBlock }, 1)
}

/** What an operator does while everything runs; the seconds that each took. */
export async function operate({ folder, installation, shape, env }: Place): Promise<Durations> {
  const took: Durations = {}
  const run = async (name: string, work: () => Promise<unknown>) => {
    const began = performance.now()
    await work()
    took[name] = (performance.now() - began) / 1_000
    say(`${name}: ${took[name].toFixed(1)} s`)
  }
  const out = (name: string) => join(folder, name)
  const ofChain = ['--chain', busiestChain]
  await run('edge partition loaded and placed', () => backfill(shape.edge, env))
  await run('loaded rows verified', () => backfill(shape.loaded, env, ['--verify']))
  await run('migrations', () => command('db/main.ts', [], env))
  await rm(out('export'), { recursive: true, force: true })
  const parquet = ['--what', 'settlements', ...ofChain, '--format', 'parquet', '--out', out('export')]
  await run('settlements exported to Parquet', () => command('export/main.ts', parquet, env))
  await run('index made and dropped', async () => {
    const { rows } = await installation.pool.query<{ name: string }>(
      `select relid::regclass::text as name from pg_partition_tree('settlement') where isleaf
        order by pg_total_relation_size(relid) desc, relid limit 1`,
    )
    await installation.pool.query(`create index concurrently rehearsal on ${rows[0]?.name} (amount)`)
    await installation.pool.query('drop index concurrently rehearsal')
  })
  await run('backup', async () => {
    await rm(out('backup'), { recursive: true, force: true })
    await command('db/backup/main.ts', ['--out', out('backup')], {}, { cwd: installation.home })
  })
  return took
}

/** Ends and pauses processes without a word; seconds until the heads are indexed again, by fault. */
export async function disturb({ pool }: Installation, running: Running): Promise<Durations> {
  const took: Durations = {}
  const recover = async (name: string, chain: string, fault: () => Promise<void> | void) => {
    await fault()
    const { rows } = await pool.query<{ at: Date }>('select clock_timestamp() as at')
    const since = rows[0]?.at
    took[name] = await untilAll(name, async () => {
      const found = await pool.query('select from chain_state where chain = $1 and updated_at > $2', [chain, since])
      return { done: found.rowCount ?? 0, of: 1 }
    })
  }
  await recover('processor killed', busiestChain, () => running.signal(`processor-${busiestChain}`, 'SIGKILL'))
  await recover('processor paused', socialChain, async () => {
    running.signal(`processor-${socialChain}`, 'SIGSTOP')
    await delay(pausedMs)
    running.signal(`processor-${socialChain}`, 'SIGCONT')
  })
  running.signal('enrichment', 'SIGKILL')
  return took
}
