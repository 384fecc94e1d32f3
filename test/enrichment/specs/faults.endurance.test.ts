import { expect, test } from 'vitest'
import type { HostFault } from '../../../devnet/hosts/host-faults.ts'
import type { WebHost } from '../../../devnet/hosts/web-host.ts'
import { publish, specsOf, startAgentsJob, startHosts } from '../../derive/agents/job.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'

const source = 'spec_discovery'
const hour = 3_600_000
const day = 24 * hour

const database = testDatabase()

let nextFid = 1
const newFid = () => nextFid++
const clock = createClock('2026-06-01T00:00:00Z')

test('no misbehaviour of a host clears what is known or holds up the others', async () => {
  const faults: readonly [HostFault, string | null][] = [
    [{ kind: 'status', status: 500 }, 'http_5xx'],
    [{ kind: 'status', status: 418 }, 'http_4xx'],
    [{ kind: 'hang' }, 'timeout'],
    [{ kind: 'drip' }, 'timeout'],
    [{ kind: 'cut' }, 'connect_error'],
    [{ kind: 'truncated' }, 'connect_error'],
    [{ kind: 'redirect-loop' }, 'redirect_refused'],
    [{ kind: 'half-json' }, 'not_json'],
    [{ kind: 'html' }, 'not_json'],
    [{ kind: 'bomb' }, 'not_json'],
    [{ kind: 'wrong-schema' }, 'schema_mismatch'],
    [{ kind: 'huge', bytes: 50 * 1024 * 1024 }, 'too_large'],
    [{ kind: 'rate-limited', retryAfter: 600 }, null], // nobody was asked
  ]
  const hosts = await startHosts(faults.length + 1)
  const job = startAgentsJob({ database, clock, hosts })
  const fids = hosts.map(() => newFid())
  for (const [index, host] of hosts.entries()) await publish(database.pool, host, fids[index]!, { services: ['A2A'] })
  await job.join()
  await job.read('agent_uri')
  await job.join()
  await job.read(source)
  const before = await Promise.all(fids.map((fid) => specsOf(database.pool, fid)))
  const seenAt = clock.now().toISOString()

  for (const [index, [fault]] of faults.entries()) {
    hosts[index]!.pages.delete('/openapi.json')
    hosts[index]!.faults.add(fault, { times: Number.POSITIVE_INFINITY })
  }
  const at = clock.pass(7 * hour).toISOString()
  await job.read(source)
  await job.join()
  expect(await specsOf(database.pool, fids.at(-1)!)).toMatchObject({ last_alive_at: at, last_check_status: 'ok' })
  for (const [index, [{ kind }, status]] of faults.entries()) {
    const shown = await specsOf(database.pool, fids[index]!)
    const {
      last_check_at,
      last_check_status,
      http_status,
      latency_ms,
      consecutive_failures,
      readable,
      answers,
      ...kept
    } = before[index].documents[0]
    expect(readable).toBe(true)
    expect({ fault: kind, ...shown.documents[0] }).toMatchObject({
      ...kept,
      fault: kind,
      last_alive_at: seenAt,
      last_check_at: status ? at : seenAt,
      last_check_status: status ?? 'ok',
      consecutive_failures: status ? 1 : 0,
      readable: status === null,
      answers: status ? { since: at } : answers,
    })
    expect({ fault: kind, ...shown }).toMatchObject({
      fault: kind,
      last_spec_discovery_at: at,
      spec_check_status: 'found',
      last_alive_at: seenAt,
    })
  }
})

test('documents that stay silent are dead after five failures and three days; one sign of life brings them back', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const fid = newFid()
  await publish(database.pool, host, fid, { services: ['A2A'] })
  await job.join()
  await job.read('agent_uri')
  await job.join()
  await job.read(source)
  host.faults.add({ kind: 'status', status: 500 }, { times: Number.POSITIVE_INFINITY })
  const seen: string[] = []
  for (let day_ = 1; day_ <= 5; day_++) {
    clock.pass(1.2 * day)
    await job.read(source)
    await job.join()
    const { spec_check_status, documents } = await specsOf(database.pool, fid)
    seen.push(`${spec_check_status} ${documents.length}`)
  }
  expect(seen).toEqual(['found 2', 'found 2', 'found 2', 'found 2', 'unreachable 1'])

  host.faults.clear()
  clock.pass(8 * day)
  await job.read(source)
  await job.join()
  expect((await specsOf(database.pool, fid)).spec_check_status).toBe('found')
})
