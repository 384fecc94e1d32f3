import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
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
  const { postgres, remove } = await startTemporaryServer('webhooks', { durable: false, settings: {} })
  const pool = createPool({ databaseUrl: postgres.databaseUrl, name: 'bench', max: connections, statementTimeoutMs: 0 })
  const receivers = await startReceivers()
  try {
    await migrate(postgres.databaseUrl)
    await fillWorld(pool, { agents, addresses: agents, settlements: agents })
    const hosts = await register(pool, { ...size, port: receivers.port })
    await pool.query('truncate due')
    const api = await startServer('uncached', { DATABASE_URL: postgres.databaseUrl })
    const before = await latencies(api.url, delay(apiSeconds * second))
    const job = startJob(pool, hosts)
    const during = await latencies(api.url, send(pool, size))
    await job.stop()
    await api.stop()
    print(size, { before, during, all: await arrivals(pool, '%'), quick: await arrivals(pool, '%/quick') })
  } finally {
    await receivers.stop()
    await pool.end()
    await remove()
  }
}

/** A server that answers at every address of this machine, as its path says: quick, slow or dead. */
async function startReceivers(): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const answer = (response: ServerResponse) => response.writeHead(204).end()
  const server: Server = createServer((request, response) => {
    request.resume()
    if (request.url === '/quick') answer(response)
    if (request.url === '/slow') setTimeout(answer, slowMs, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', 4_096, resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
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
    const { n } = await arrivals(pool, '%')
    if (n >= expected) return
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
  const execArgv = ['--experimental-transform-types', '--no-warnings']
  const reader = fork(fileURLToPath(new URL('./api-reader.ts', import.meta.url)), [url, String(agents)], { execArgv })
  try {
    await Promise.race([until, failure(reader)])
    reader.send('over')
    const [found] = await Promise.race([once(reader, 'message'), failure(reader)])
    return found as Latencies
  } finally {
    reader.kill()
  }
}

/** Rejects when a process ends. */
async function failure(child: ChildProcess): Promise<never> {
  const [code] = await once(child, 'exit')
  throw new Error(`the reader of the API ended with ${code}`)
}

type Arrivals = Awaited<ReturnType<typeof arrivals>>

function print(
  { subscribers, changes }: WebhooksBenchOptions,
  found: Readonly<Record<'before' | 'during', Latencies> & Record<'all' | 'quick', Arrivals>>,
): void {
  const { before, during, all, quick } = found
  const ms = ({ p50, p95 }: Latencies) => `${p50.toFixed(1)} and ${p95.toFixed(1)} ms`
  const seconds = ({ p50, p95, last }: Arrivals) => `${p50.toFixed(1)}, ${p95.toFixed(1)} and ${last.toFixed(1)} s`
  const rows: [string, string][] = [
    [`${all.n} messages, from change to arrival: p50, p95, last`, seconds(all)],
    [`  of them ${quick.n} to endpoints that answer at once`, seconds(quick)],
    ['answers of the API before: p50, p95', ms(before)],
    ['answers of the API meanwhile', ms(during)],
  ]
  for (const [what, figure] of rows) process.stdout.write(`${what.padEnd(64)} ${figure}\n`)
  process.stdout.write(
    `${JSON.stringify({ bench: 'webhooks', cpus: cpus().length, subscribers, changes, ...found })}\n`,
  )
  if (all.p95 > goalSeconds) throw new Error(`95 of 100 messages took up to ${all.p95.toFixed(1)} s`)
}
