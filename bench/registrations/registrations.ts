import { readFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import type pg from 'pg'
import { busiestChain } from '../../config/chains.ts'
import { maxBlock } from '../../db/block-range.ts'
import { migrate } from '../../db/migrate.ts'
import { createPool, inTransaction } from '../../db/pool.ts'
import { deleteWithin } from '../../db/queries/chain/block-rows.ts'
import { restoreFeedbackRevokedAbove } from '../../db/queries/chain/reset.ts'
import { derivations } from '../../derive/derivations.ts'
import { settle } from '../../derive/pass.ts'
import { type BenchServer, startServer } from '../load.ts'
import { startTemporaryServer } from '../temporary-server.ts'
import { type List, lists } from './asks.ts'
import { fillRegistrations, firstFeedbackBlock, type RegistrationsSize } from './world.ts'

/** Milliseconds in which 99 of 100 pages of a list are answered: of a hundred rows, and for each hundred of longer ones. */
const boundMs = 50
/** A list that is above its bound is asked for again, on a quiet machine: the best round counts. */
const rounds = 3
/** Share of the machine's processors that others may take while a list is judged. */
const othersMost = 0.1
const ticks = 100

interface Measured {
  readonly name: string
  readonly bound: number
  readonly p50: number
  readonly p99: number
  /** CPU milliseconds of server and database for an answer. */
  readonly cpu: number
  /** Share of the machine that other work took meanwhile. */
  readonly others: number
}

/** Asks for every list over registrations and feedback, over HTTP, and compares what is stored of feedback after a reorg. */
export async function benchRegistrations(size: RegistrationsSize, asks: number): Promise<void> {
  const settings = { shared_buffers: '1GB', max_wal_size: '4GB', jit: 'off' }
  const { postgres, cpuSeconds, remove } = await startTemporaryServer('registrations', { durable: false, settings })
  const pool = createPool({ databaseUrl: postgres.databaseUrl, name: 'bench', statementTimeoutMs: 0 })
  let api: BenchServer | undefined
  try {
    say(`filling ${size.registrations} registrations and ${size.feedback} feedbacks`)
    await migrate(postgres.databaseUrl)
    await fillRegistrations(pool, size)
    say(`filled: ${cpuSeconds().toFixed(0)} CPU s`)
    api = await startServer('uncached', { DATABASE_URL: postgres.databaseUrl })
    const measured: Measured[] = []
    for (const list of lists(size)) {
      const one = await measure(list, { api, cpuSeconds, asks })
      measured.push(one)
      say(line(one))
    }
    const undone = await undo(pool, size)
    judge(measured, undone)
  } finally {
    await api?.stop()
    await pool.end()
    await remove()
  }
}

interface Measuring {
  readonly api: BenchServer
  readonly cpuSeconds: () => number
  /** Times that each list is asked for. */
  readonly asks: number
}

async function measure(list: List, { api, cpuSeconds, asks }: Measuring): Promise<Measured> {
  await ask(list, api, asks, 6) // connections, plans and compiled code
  let best: Measured | undefined
  for (let round = 0; round < rounds && !(best && (best.p99 <= best.bound || best.others > othersMost)); round++) {
    const before = { machine: busySeconds(), own: await ownSeconds(api, cpuSeconds), at: performance.now() }
    const times = await ask(list, api, 0, asks)
    const own = (await ownSeconds(api, cpuSeconds)) - before.own
    const wall = (performance.now() - before.at) / 1_000
    const others = Math.max(0, busySeconds() - before.machine - own - ownCpu()) / (wall * cpus().length)
    const at = (share: number) => times[Math.ceil(times.length * share) - 1] as number
    const next = {
      name: list.name,
      bound: boundMs * Math.max(1, list.rows / 100),
      p50: at(0.5),
      p99: at(0.99),
      cpu: (own * 1_000) / asks,
      others,
    }
    if (!best || next.p99 < best.p99) best = next
  }
  return best as Measured
}

let ownBefore = process.cpuUsage()
/** CPU seconds of this process since it was asked last. */
function ownCpu(): number {
  const { user, system } = process.cpuUsage(ownBefore)
  ownBefore = process.cpuUsage()
  return (user + system) / 1e6
}

const ownSeconds = async (api: BenchServer, cpuSeconds: () => number) => cpuSeconds() + (await api.cpuMicros()) / 1e6

/** CPU seconds that the machine spent on anything. */
function busySeconds(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (
    readFileSync('/proc/stat', 'utf8').split('\n')[0] as string
  )
    .split(/\s+/)
    .slice(1)
    .map(Number)
  return (user + nice + system + irq + softirq + steal) / ticks
}

/** Milliseconds of each answer, sorted. Each is asked for alone. */
async function ask(list: List, api: BenchServer, from: number, count: number): Promise<number[]> {
  const times: number[] = []
  for (let n = from; n < from + count; n++) {
    const { path, body } = list.ask(n)
    const start = performance.now()
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(api.url + path, body === undefined ? {} : { method: 'POST', headers, body })
    const text = await response.text()
    times.push(performance.now() - start)
    if (response.status !== 200 || (body !== undefined && text.includes('"errors"'))) {
      throw new Error(`${list.name}: ${path} ${body ?? ''} was answered with ${response.status}: ${text.slice(0, 500)}`)
    }
  }
  return times.sort((a, b) => a - b)
}

interface Undone {
  readonly feedback: number
  readonly seconds: number
}

/** Takes a twentieth of all feedback on a chain back, puts half of it there again, and throws if any sum is not exact. */
async function undo(pool: pg.Pool, { feedback }: RegistrationsSize): Promise<Undone> {
  const above = firstFeedbackBlock + Math.floor(feedback * 0.95)
  await pool.query('create table kept as select * from feedback where chain = $1 and block_number > $2', [
    busiestChain,
    above,
  ])
  const began = performance.now()
  await inTransaction(pool, async (db) => {
    await deleteWithin(db, busiestChain, { fromBlock: above + 1, toBlock: maxBlock }, ['feedback', 'feedback_response'])
    await restoreFeedbackRevokedAbove(db, busiestChain, above)
  })
  const seconds = (performance.now() - began) / 1_000
  await compareSums(pool)
  await pool.query('insert into feedback select * from kept where log_index = 3 and block_number % 2 = 0')
  await compareSums(pool)
  const { rows } = await pool.query<{ n: number }>('select count(*)::int as n from kept')
  return { feedback: rows[0]?.n ?? 0, seconds }
}

async function compareSums(pool: pg.Pool): Promise<void> {
  const searched = derivations.filter(({ kind }) => kind === 'searched registrations' || kind === 'declarations')
  await settle(searched, { pool, now: () => new Date(), settlementOverloads: 'spec' })
  const { rows } = await pool.query(`
    select chain, agent_id, t.standing, t.revoked, s.feedback_count, counted.standing as counted, counted.revoked as counted_revoked
      from feedback_total t
      full join (select chain, agent_id, count(*) filter (where revoked_block is null) as standing, count(revoked_block) as revoked
                   from feedback group by 1, 2) counted using (chain, agent_id)
      left join searched_registration s using (chain, agent_id)
     where (coalesce(t.standing, 0), coalesce(t.revoked, 0)) <> (coalesce(counted.standing, 0), coalesce(counted.revoked, 0))
        or s.feedback_count is distinct from coalesce(t.standing, 0)
     limit 5`)
  if (rows.length > 0) throw new Error(`sums of feedback are not those of its rows: ${JSON.stringify(rows)}`)
}

function judge(measured: readonly Measured[], undone: Undone): void {
  const above = measured.filter(({ p99, bound }) => p99 > bound)
  const failed = above.filter(({ others }) => others <= othersMost)
  say(
    `\n${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB; ${undone.feedback} feedbacks undone in ${undone.seconds.toFixed(1)} s, sums exact`,
  )
  for (const one of above) say(`above its bound${failed.includes(one) ? '' : ', while other work ran'}: ${line(one)}`)
  const worst = Math.max(...measured.map(({ p99, bound }) => p99 / (bound / boundMs)))
  const figures = {
    lists: measured.length,
    above: above.length,
    failed: failed.length,
    highest_p99_ms_per_100_rows: Number(worst.toFixed(1)),
    undone_seconds: Number(undone.seconds.toFixed(1)),
  }
  say(JSON.stringify(figures))
  if (failed.length > 0) process.exitCode = 1
}

const line = ({ name, bound, p50, p99, cpu, others }: Measured) =>
  `${name.padEnd(58)} p50 ${p50.toFixed(1).padStart(7)} p99 ${p99.toFixed(1).padStart(7)} of ${String(bound).padStart(3)} ms, CPU ${cpu.toFixed(1).padStart(6)} ms, others ${(100 * others).toFixed(0)} %`

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
