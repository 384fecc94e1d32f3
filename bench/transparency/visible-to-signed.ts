import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { startHub } from '../../devnet/hub/server.ts'
import { HubState } from '../../devnet/hub/state.ts'
import { nowhere } from '../../test/support/enrichment-process.ts'
import { until } from '../../test/support/until.ts'
import { makeLogKey } from '../../transparency/log-key.ts'

interface Server {
  readonly pool: pg.Pool
  readonly databaseUrl: string
  /** For the key, and what the job keeps next to it. */
  readonly folder: string
}

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Changes that become visible one by one, and how many do at once in between: what a busy minute brings. */
const alone = 200
const together = 200
const everyNth = 20
const pauseMs = 50

/**
 * Milliseconds for which changes of the directory are visible before they are in a signed checkpoint: the median, and of the
 * one that waited longest. Appended and signed by the enrichment job, as a process; timed by the clock of the database.
 */
export async function visibleToSigned({
  pool,
  databaseUrl,
  folder,
}: Server): Promise<{ median: number; most: number }> {
  // When a checkpoint is committed, as near as can be told, in the place of a reader who asks all the time.
  await pool.query(`
create table signed (size bigint, at timestamptz);
create function note_signed() returns trigger language plpgsql as
  $$ begin insert into signed values (new.size, clock_timestamp()); return null; end $$;
create constraint trigger noted after insert or update on transparency_checkpoint
  deferrable initially deferred for each row execute function note_signed()`)
  const job = await startJob({ databaseUrl, folder })
  try {
    const isSigned = `select from transparency_checkpoint where size > (select max(index) from transparency_entry)`
    const signed = async () => (await pool.query(isSigned)).rows.length > 0
    await until('the job has signed what is there', signed)
    const { rows } = await pool.query<{ first: number }>('select max(index) + 1 as first from transparency_entry')
    const [{ first }] = rows as [{ first: number }]
    for (let nth = 0; nth < alone; nth++) {
      await change(pool, 1)
      if (nth % everyNth === 0) await change(pool, together)
      await delay(pauseMs)
    }
    const all = alone + together * Math.ceil(alone / everyNth)
    await until('all changes are signed', async () => {
      const { rows } = await pool.query('select from transparency_checkpoint where size >= $1', [first + all])
      return rows.length > 0
    })
    return await waits(pool, first)
  } finally {
    await job.stop()
  }
}

/** Makes changes visible, whose time is that of the database's clock at the end of their transaction. */
async function change(pool: pg.Pool, count: number): Promise<void> {
  await pool.query(
    `insert into agent_change (fid, kind, changed_at) select 1, 'delist', clock_timestamp() from generate_series(1, $1)`,
    [count],
  )
}

async function waits(pool: pg.Pool, first: number): Promise<{ median: number; most: number }> {
  const { rows } = await pool.query<{ median: number; most: number }>(
    `select percentile_cont(0.5) within group (order by waited) as median, max(waited) as most
       from transparency_entry e
       join agent_change c on e.subject = 'change:' || c.seq
      cross join lateral (
        select extract(epoch from min(s.at) - c.changed_at)::float8 * 1000 as waited from signed s where s.size > e.index
      ) signed
      where e.index >= $1`,
    [first],
  )
  return rows[0] as { median: number; most: number }
}

async function startJob({ databaseUrl, folder }: Omit<Server, 'pool'>) {
  const hub = await startHub(new HubState(), { apiKey: 'key' })
  const keyFile = join(folder, 'log-key.pem')
  makeLogKey(keyFile)
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, [...process.execArgv, join(root, 'enrichment/main.ts')], {
    cwd: root,
    env: {
      PATH,
      HOME,
      DATABASE_URL: databaseUrl,
      HUB_URL: hub.url,
      BASE_URL: 'https://api.agents.example',
      LOG_KEY_FILE: keyFile,
      LOG_LEVEL: 'warn',
      METRICS_PORT: '0',
      ...nowhere,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'exit')
  return {
    async stop() {
      child.kill('SIGTERM')
      await ended
      await hub.stop()
    },
  }
}
