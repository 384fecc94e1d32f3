import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createPool } from '../db/pool.ts'
import { freePort } from '../ops/ports.ts'
import { baseUrl, siteUrl } from '../test/support/api/claims.ts'
import { checkOutRelease, lastRelease } from '../test/support/schema/released.ts'
import { until } from '../test/support/until.ts'
import { measure } from './measured-run.ts'
import type { Answered } from './rehearsal/asks.ts'
import { watchLocks } from './rehearsal/background.ts'
import { command } from './rehearsal/processes.ts'
import { readMeanwhile } from './rehearsal/reads.ts'
import { percentile, say } from './rehearsal/show.ts'
import { startTemporaryServer } from './temporary-server.ts'
import { fillWorld } from './world.ts'

const typescript = ['--import', import.meta.resolve('tsx')]
const settings = { shared_buffers: '1GB', max_wal_size: '4GB' }
/** Milliseconds of reading before the migration, as a baseline. */
const aloneMs = 5_000
const connectTimeoutMs = 120_000
/** Longest wait of a reader for a lock that passes, in milliseconds. */
const lockLimitMs = 1_000
/** Routes to read, whose answers need no rolled-up sums, because this world has none. */
const read = [
  '/api/agent/{fid}',
  '/api/agent/{fid}/settlements',
  '/api/settlements',
  '/api/discovery',
  '/api/search',
  '/data/log.ndjson',
]
const readers = 2
const readPauseMs = 40

/**
 * Migrates a database of the last release, with so many settlements, by the real command, while the last release's API is
 * read: as in a rollout, which migrates first. Prints how long it took, the answers before and meanwhile, and the longest
 * wait for a lock; throws when an answer was a 5xx or a reader waited a second for a lock. Until there is a release, it says
 * so and does nothing.
 */
export async function benchUpgrade({ rows }: { rows: number }): Promise<void> {
  if (!lastRelease) return say('nothing was released yet, so there is nothing to upgrade from')
  const { folder, postgres, remove } = await startTemporaryServer('upgrade', { settings })
  const patient = { statementTimeoutMs: 0, connectTimeoutMs }
  const pool = createPool({ databaseUrl: postgres.databaseUrl, name: 'bench', ...patient })
  try {
    const release = await checkOut(join(folder, 'release'))
    const env = { DATABASE_URL: postgres.databaseUrl }
    await measure(process.execPath, [...typescript, join(release, 'db/main.ts')], env, { cwd: release })
    const agents = Math.min(100_000, Math.max(1_000, Math.round(rows / 100)))
    say(`filling ${agents} agents and ${rows} settlements`)
    await fillWorld(pool, { agents, addresses: agents * 1.5, settlements: rows })
    const api = await startApi(release, env)
    try {
      await report(rows, await migrateMeanwhile(api.url, { pool, env, agents }))
    } finally {
      await api.stop()
    }
  } finally {
    await pool.end()
    await remove()
  }
}

async function checkOut(folder: string): Promise<string> {
  say(`checking out ${lastRelease?.version}`)
  await mkdir(folder)
  checkOutRelease(folder)
  return folder
}

async function startApi(release: string, env: NodeJS.ProcessEnv) {
  const port = await freePort()
  const { PATH, HOME } = process.env
  const plenty = { LIMIT_PER_MINUTE: '1000000', LIMIT_PER_DAY: '100000000' }
  const place = { PORT: String(port), BASE_URL: baseUrl, SITE_URL: siteUrl, LOG_LEVEL: 'warn' }
  const child = spawn(process.execPath, [...typescript, join(release, 'api/main.ts')], {
    cwd: release,
    env: { PATH, HOME, ...env, ...plenty, ...place },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'exit')
  const url = `http://127.0.0.1:${port}`
  const answers = () =>
    fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until('the API of the last release answers', answers)
  return {
    url,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

interface Upgrade {
  readonly migrations: number
  readonly seconds: number
  readonly before: readonly Answered[]
  readonly meanwhile: readonly Answered[]
  readonly longestLockMs: number
}

async function migrateMeanwhile(
  url: string,
  { pool, env, agents }: { pool: ReturnType<typeof createPool>; env: NodeJS.ProcessEnv; agents: number },
): Promise<Upgrade> {
  // Reads the agents that were paid least: nothing is rolled up, so the busiest take seconds even without a migration.
  const reading = { url, agents, isOfTheRest: true, routes: read, readers, pauseMs: readPauseMs }
  const readAlone = async () => {
    const reads = await readMeanwhile(reading)
    await delay(aloneMs)
    return reads.stop()
  }
  say('reading alone')
  await readAlone() // warm-up: the first answers of a process are slow
  const before = await readAlone()
  say('migrating')
  const reads = await readMeanwhile(reading)
  const locks = watchLocks(pool)
  let applied = 0
  const heard = (text: string) => {
    applied += text.match(/^applied /gm)?.length ?? 0
  }
  const { seconds } = await command('db/main.ts', [], env, { heard })
  const meanwhile = await reads.stop()
  const { milliseconds: longestLockMs } = await locks.stop()
  return { migrations: applied, seconds, before, meanwhile, longestLockMs }
}

async function report(rows: number, { migrations, seconds, before, meanwhile, longestLockMs }: Upgrade): Promise<void> {
  const line = (what: string, value: string) => process.stdout.write(`${what.padEnd(44)} ${value}\n`)
  const all = (answered: readonly Answered[]) => answered.flatMap(({ milliseconds }) => milliseconds)
  const ms = (answered: readonly Answered[], percent: number) => Math.round(percentile(all(answered), percent) ?? 0)
  line('', `${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB`)
  line('settlements', String(rows))
  line('migrations; seconds with the start', `${migrations}; ${seconds.toFixed(1)}`)
  for (const [what, answered] of Object.entries({ before, meanwhile })) {
    const times = [50, 99, 100].map((percent) => ms(answered, percent)).join(', ')
    line(`answers ${what}, ms: p50, p99, slowest`, `${times} of ${all(answered).length}`)
  }
  line('longest that a reader waited for a lock', `${longestLockMs.toFixed(0)} ms`)
  const slowest = { before: ms(before, 100), meanwhile: ms(meanwhile, 100) }
  const figures = { bench: 'upgrade', rows, migrations, seconds, slowestMs: slowest, longestLockMs }
  process.stdout.write(`${JSON.stringify(figures)}\n`)
  const wrong = [
    ...meanwhile.flatMap(({ failures }) => failures),
    ...(longestLockMs >= lockLimitMs ? [`a reader waited ${longestLockMs.toFixed(0)} ms for a lock`] : []),
  ]
  if (migrations === 0) say('there was nothing to migrate: nothing is shown') // no migration, or no history of the release
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
}
