import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { cpus } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { sources } from '../../config/sources.ts'
import { migrate } from '../../db/migrate.ts'
import { createPool } from '../../db/pool.ts'
import { derivations } from '../../derive/derivations.ts'
import { derivePass } from '../../derive/pass.ts'
import { createPasses } from '../../enrichment/schedule/passes.ts'
import { webhooks } from '../../enrichment/webhooks/source.ts'
import { createDoor } from '../../net/door.ts'
import { second } from '../../ops/time.ts'
import { startServer } from '../load.ts'
import { startTemporaryServer } from '../temporary-server.ts'
import { fillWorld } from '../world.ts'

interface WebhooksBenchOptions {
  /** Endpoints that all want one change: of a hundred, five answer after ten seconds and five never. */
  readonly subscribers: number
  /** Further changes, ten a second, each of an agent that ten further endpoints want. */
  readonly changes: number
}

const agents = 1_000
const slowShare = 0.05
const deadShare = 0.05
const slowMs = 10 * second
/** Time within which 95 of 100 messages have to arrive at endpoints that answer at once. */
const goalSeconds = 30
const subscribersOfOne = 10
const apiSeconds = 10
/** Milliseconds after which the benchmark fails. */
const longestMs = 150 * second
const connections = 12
const now = () => new Date()
const secret = 'a secret of the benchmark, long enough'

/** Measures how long after a change endpoints have its message, and what the API's readers notice; prints a table. */
export async function benchWebhooks(size: WebhooksBenchOptions): Promise<void> {
  const { postgres, cpuSeconds, remove } = await startTemporaryServer('webhooks', { durable: false, settings: {} })
  const open = (max: number) =>
    createPool({ databaseUrl: postgres.databaseUrl, name: 'bench', max, statementTimeoutMs: 0 })
  const pool = open(2)
  const jobs = open(connections)
  const receivers = forked('./receivers.ts', String(slowMs))
  try {
    await migrate(postgres.databaseUrl)
    await fillWorld(pool, { agents, addresses: agents, settlements: agents })
    const port = await Promise.race([message<number>(receivers), failure(receivers)])
    const hosts = await register(pool, { ...size, port })
    await pool.query('truncate due')
    const api = await startServer('uncached', { DATABASE_URL: postgres.databaseUrl })
    await latencies(api.url, delay(apiSeconds * second)) // until it is warm
    const before = await latencies(api.url, delay(apiSeconds * second))
    const costs = costsOf(jobs, cpuSeconds)
    const job = startJob(jobs, hosts)
    const during = await latencies(api.url, send(pool, size))
    const all = await arrivals(pool, '%')
    const cost = costs.each(all.n)
    await job.stop()
    const { rows } = await pool.query('select count(*)::int as leases from source_state where lease_id is not null')
    await api.stop()
    print(size, { before, during, all, quick: await arrivals(pool, '%/quick'), cost, ...rows[0] })
  } finally {
    receivers.kill()
    await Promise.all([pool.end(), jobs.end()])
    await remove()
  }
}

/** What a message costs the job and its database. */
interface Cost {
  readonly statements: number
  /** CPU milliseconds of this process, which is the job, and of the database, which answers the API, too. */
  readonly jobMs: number
  readonly databaseMs: number
}

/** Counts from now on: the statements of a pool, and CPU time. */
function costsOf(pool: pg.Pool, databaseSeconds: () => number) {
  let statements = 0
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...all: unknown[]) => unknown
    Object.assign(client, {
      query(...all: unknown[]) {
        statements++
        return query(...all)
      },
    })
  })
  const begun = { job: process.cpuUsage(), database: databaseSeconds() }
  return {
    each(messages: number): Cost {
      const { user, system } = process.cpuUsage(begun.job)
      return {
        statements: statements / messages,
        jobMs: (user + system) / 1_000 / messages,
        databaseMs: ((databaseSeconds() - begun.database) * second) / messages,
      }
    },
  }
}

/** Stores endpoints, each at a host of its own. Returns the hosts, as `host:port`. */
async function register(
  pool: pg.Pool,
  { subscribers, changes, port }: WebhooksBenchOptions & { readonly port: number },
): Promise<Set<string>> {
  const kindOf = (n: number) =>
    n % 100 < slowShare * 100 ? 'slow' : n % 100 < (slowShare + deadShare) * 100 ? 'dead' : 'quick'
  const all = Array.from({ length: subscribers + changes * subscribersOfOne }, (_, n) => ({
    host: `127.${1 + Math.floor(n / 65_025)}.${1 + (Math.floor(n / 255) % 255)}.${1 + (n % 255)}:${port}`,
    kind: n < subscribers ? kindOf(n) : 'quick',
    fids: n < subscribers ? null : `{${2 + Math.floor((n - subscribers) / subscribersOfOne)}}`,
  }))
  await pool.query(
    `insert into webhook (id, fid, url, types, fids, method, nonce, proof_sha256, token_sha256, after_seq, created_at)
     select 'wh-' || n, n, 'http://' || host || '/' || kind,
            case when fids is null then '{agent.listed}' else '{agent.delisted}' end::text[], fids::bigint[], 'eip191', n::text,
            '', '', 0, now()
       from unnest($1::text[], $2::text[], $3::text[]) with ordinality as one (host, kind, fids, n)`,
    [all.map(({ host }) => host), all.map(({ kind }) => kind), all.map(({ fids }) => fids)],
  )
  return new Set(all.map(({ host }) => host))
}

/** What the enrichment job does for webhooks, in its loops. */
function startJob(pool: pg.Pool, egressAllow: ReadonlySet<string>) {
  const door = createDoor({
    userAgent: 'bench/1.0 (+https://agents.example)',
    egressAllow,
    politeness: { intervalMs: 0, maxWaiting: 100, maxWaitMs: 10_000 },
  })
  const source = webhooks({ pool, door, secret, baseUrl: 'http://127.0.0.1', now })
  const failed = (_source: string, _subjects: readonly string[], error: Error) =>
    process.stderr.write(`${error.message}\n`)
  let isStopped = false
  const repeat = async (pass: () => Promise<number>, restMs: number) => {
    while (!isStopped) if ((await pass()) === 0) await delay(restMs)
  }
  const [events] = derivations.filter(({ kind }) => kind === 'webhook events')
  const loops = Array.from({ length: sources.webhooks.loops }, async () => {
    const passes = createPasses(source, { pool, now, random: Math.random, failed })
    await repeat(async () => (await passes.run()).leased, second / 2)
    await passes.ended()
  })
  const deriving = repeat(() => derivePass(events!, { pool, now, settlementOverloads: 'spec' }), second / 4)
  return {
    async stop() {
      isStopped = true
      door.close()
      await Promise.all([...loops, deriving])
    },
  }
}

/** Makes the changes, and waits until every message has arrived that can. Throws when that takes too long. */
async function send(pool: pg.Pool, { subscribers, changes }: WebhooksBenchOptions): Promise<void> {
  const change = (fid: number, kind: 'upsert' | 'delist') =>
    pool.query('insert into agent_change (fid, kind, changed_at) values ($1, $2, now())', [fid, kind])
  await change(1, 'upsert')
  for (let n = 0; n < changes; n++) {
    await delay(second / 10)
    await change(2 + n, 'delist')
  }
  const expected = subscribers * (1 - deadShare) + changes * subscribersOfOne
  for (const deadline = performance.now() + longestMs; performance.now() < deadline; await delay(second)) {
    const { rows } = await pool.query<{ n: number }>(
      `select count(*)::int as n from webhook_delivery where outcome = 'ok'`,
    )
    if (rows[0]!.n >= expected) return
  }
  throw new Error(`of ${expected} messages not all had arrived after ${longestMs / second} seconds`)
}

/** Messages that arrived at endpoints, and seconds from their change: the median, the 95th of a hundred, the last. */
async function arrivals(pool: pg.Pool, url: string) {
  const { rows } = await pool.query<{ n: number; p50: number; p95: number; last: number }>(
    `select count(*)::int as n, percentile_cont(0.5) within group (order by seconds) as p50,
            percentile_cont(0.95) within group (order by seconds) as p95, max(seconds) as last
       from webhook_delivery d
       join webhook w using (id)
       join webhook_event e using (seq)
      cross join lateral (select extract(epoch from d.at - e.at)::float8 as seconds) took
      where d.outcome = 'ok' and w.url like $1`,
    [url],
  )
  return rows[0]!
}

interface Latencies {
  /** Milliseconds. */
  readonly p50: number
  readonly p95: number
}

/** How long answers to requests for profiles take, one at a time until something ends, by the clock of a process that only asks. */
async function latencies(url: string, until: Promise<unknown>): Promise<Latencies> {
  const reader = forked('./api-reader.ts', url, String(agents))
  try {
    await Promise.race([until, failure(reader)])
    reader.send('over')
    return await Promise.race([message<Latencies>(reader), failure(reader)])
  } finally {
    reader.kill()
  }
}

/** Starts a process that runs a file of this folder. */
function forked(file: string, ...given: readonly string[]): ChildProcess {
  const execArgv = ['--experimental-transform-types', '--no-warnings']
  return fork(fileURLToPath(new URL(file, import.meta.url)), given, { execArgv })
}

async function message<T>(child: ChildProcess): Promise<T> {
  const [found] = await once(child, 'message')
  return found as T
}

/** Rejects when a process ends. */
async function failure(child: ChildProcess): Promise<never> {
  const [code] = await once(child, 'exit')
  throw new Error(`${child.spawnargs.slice(-2).join(' ')} ended with ${code}`)
}

type Arrivals = Awaited<ReturnType<typeof arrivals>>

function print(
  { subscribers, changes }: WebhooksBenchOptions,
  found: Readonly<
    Record<'before' | 'during', Latencies> &
      Record<'all' | 'quick', Arrivals> & { readonly cost: Cost; readonly leases: number }
  >,
): void {
  const { before, during, all, quick, cost, leases } = found
  const ms = ({ p50, p95 }: Latencies) => `${p50.toFixed(1)} and ${p95.toFixed(1)} ms`
  const seconds = ({ p50, p95, last }: Arrivals) => `${p50.toFixed(1)}, ${p95.toFixed(1)} and ${last.toFixed(1)} s`
  const rows: [string, string][] = [
    [`${all.n} messages, from change to arrival: p50, p95, last`, seconds(all)],
    [`  of them ${quick.n} to endpoints that answer at once`, seconds(quick)],
    ['answers of the API before: p50, p95', ms(before)],
    ['answers of the API meanwhile', ms(during)],
    ['statements for a message', cost.statements.toFixed(2)],
    ['CPU for a message: the job, the database', `${cost.jobMs.toFixed(2)} and ${cost.databaseMs.toFixed(2)} ms`],
    ['leases that the job holds when it has stopped', String(leases)],
  ]
  for (const [what, figure] of rows) process.stdout.write(`${what.padEnd(64)} ${figure}\n`)
  process.stdout.write(
    `${JSON.stringify({ bench: 'webhooks', cpus: cpus().length, subscribers, changes, ...found })}\n`,
  )
  if (leases > 0) throw new Error(`${leases} leases were not given back`)
  if (all.p95 > goalSeconds) throw new Error(`95 of 100 messages took up to ${all.p95.toFixed(1)} s`)
}
