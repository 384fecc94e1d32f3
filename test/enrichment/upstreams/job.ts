import type pg from 'pg'
import { expect, onTestFinished } from 'vitest'
import type { HostFault } from '../../../devnet/hosts/host-faults.ts'
import type { UpstreamServer } from '../../../devnet/upstreams/server.ts'
import { runPass } from '../../../enrichment/schedule/scheduler.ts'
import type { Source } from '../../../enrichment/schedule/source.ts'
import { createUpstream, type Upstream } from '../../../enrichment/upstream.ts'
import { runJoin, settleEdges } from '../../derive/passes.ts'
import type { TestDatabase } from '../../support/database.ts'
import type { Clock } from '../../support/enrichment-job.ts'
import { birth, hashOf, insert, seedRegistration, seedVerification } from '../../support/seed.ts'

export interface UpstreamJob {
  readonly upstream: Upstream
  /** Passes of the source until nothing is due; resolves with the outcomes of its reads. */
  read(): Promise<string[]>
  join(): Promise<void>
  /** Passes over edges until no work is left; resolves with the count of agents whose edges changed. */
  edges(): Promise<number>
}

const timeoutMs = 10_000 // a bomb takes the double a second to make, and more on a busy machine

/** One source of a fixed host, on the test's clock; stopped after the test. */
export function startUpstreamJob(options: {
  readonly database: TestDatabase
  readonly clock: Clock
  readonly url: string
  readonly create: (options: { pool: pg.Pool; upstream: Upstream; now: () => Date }) => Source
  readonly name?: string
  readonly perDay?: number | null
}): UpstreamJob {
  const { database, clock, url, create, name = 'double', perDay = null } = options
  const { pool } = database
  const { now } = clock
  const upstream = createUpstream({ name, url, requestsPerSecond: 1_000, perDay, pool, now, timeoutMs })
  onTestFinished(() => upstream.host.stop())
  const source = create({ pool, upstream, now })
  const pass = { pool, now, random: () => 0.5, failed: () => {} }
  const join = { pool, now, settlementOverloads: 'spec', lookups: false, perAgent: [source.name] } as const
  return {
    upstream,
    async read() {
      const outcomes: string[] = []
      for (;;) {
        const result = await runPass(source, pass)
        if (result.leased === 0) return outcomes
        outcomes.push(...result.outcomes)
      }
    },
    async join() {
      while ((await runJoin(join)) > 0);
    },
    async edges() {
      return (await settleEdges(join)).moved
    },
  }
}

/** Inserts, for each address, a registration it holds, as the processors would, and its verification by the FID. */
export async function mintTo(pool: pg.Pool, { fid, addresses }: { fid: number; addresses: readonly string[] }) {
  for (const [index, address] of addresses.entries()) {
    const id = fid * 100 + index
    await seedRegistration(pool, { chain: 'base', id, owner: address, uri: '' })
    await insert(pool, 'registration_transfer', {
      id: `base-${id}`,
      chain: 'base',
      agent_id: id,
      to: Buffer.from(address.slice(2), 'hex'),
      block_number: 100,
      log_index: id,
      block_timestamp: birth,
      tx_hash: Buffer.from(hashOf(`mint ${id}`).slice(2), 'hex'),
    })
    await seedVerification(pool, { fid, address })
  }
}

export async function stateOf(pool: pg.Pool, source: string, fid: number) {
  const { rows } = await pool.query('select * from source_state where source = $1 and subject = $2', [
    source,
    `fid:${fid}`,
  ])
  return rows[0]
}

const faults: readonly [fault: HostFault, outcome: string][] = [
  [{ kind: 'rate-limited', retryAfter: 120 }, 'rate_limited'],
  [{ kind: 'rate-limited' }, 'rate_limited'],
  [{ kind: 'status', status: 403, retryAfter: 60 }, 'rate_limited'],
  [{ kind: 'status', status: 503, retryAfter: 60 }, 'rate_limited'],
  [{ kind: 'status', status: 500 }, 'unavailable'],
  [{ kind: 'status', status: 404 }, 'refused'], // a proxy's, not the service's
  [{ kind: 'status', status: 401 }, 'refused'],
  [{ kind: 'hang' }, 'unavailable'],
  [{ kind: 'drip' }, 'unavailable'],
  [{ kind: 'cut' }, 'unavailable'],
  [{ kind: 'truncated' }, 'unavailable'],
  [{ kind: 'half-json' }, 'bad_answer'],
  [{ kind: 'html' }, 'bad_answer'],
  [{ kind: 'wrong-schema' }, 'bad_answer'],
  [{ kind: 'huge', bytes: 50 * 1024 * 1024 }, 'bad_answer'],
  [{ kind: 'bomb' }, 'bad_answer'],
  [{ kind: 'redirect-loop' }, 'bad_answer'],
]
const longMs = 8 * 86_400_000 // longer than any source waits

/**
 * Asserts for every fault of the host: stored data stays, the attempt is recorded, a failure is counted, and the next
 * good answer ends the failure.
 */
export async function expectUnharmed(options: {
  readonly database: TestDatabase
  readonly clock: Clock
  readonly job: UpstreamJob
  readonly server: UpstreamServer
  readonly source: string
  readonly fid: number
  /** Reads what the API shows of the source's data. */
  readonly shown: () => Promise<unknown>
}) {
  const { database, clock, job, server, source, fid, shown } = options
  for (const [fault, outcome] of faults) {
    const before = await shown()
    const at = clock.pass(longMs)
    server.faults.add(fault, { times: Number.POSITIVE_INFINITY })
    expect({ fault, outcomes: await job.read() }).toEqual({ fault, outcomes: [outcome] })
    const state = await stateOf(database.pool, source, fid)
    expect(state).toMatchObject({
      last_attempt_at: at,
      last_outcome: outcome,
      failures: outcome === 'rate_limited' ? 0 : 1,
    })
    expect(state.last_success_at.getTime()).toBeLessThan(at.getTime())
    await job.join()
    expect({ fault, shown: await shown() }).toEqual({ fault, shown: before })
    server.faults.clear()
    clock.pass(longMs)
    expect({ fault, outcomes: await job.read() }).toEqual({ fault, outcomes: ['ok'] })
  }
}
