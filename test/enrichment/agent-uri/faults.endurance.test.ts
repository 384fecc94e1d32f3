import { expect, test } from 'vitest'
import type { HostFault } from '../../../devnet/hosts/host-faults.ts'
import { rawCid } from '../../../devnet/world/blocks.ts'
import {
  documentOf,
  mint,
  setUri,
  startAgentsJob,
  startGateways,
  startHosts,
  stateOf,
} from '../../derive/agents/job.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'
import { until } from '../../support/until.ts'

const source = 'agent_uri'
const hour = 3_600_000
const path = '/agent.json'

const database = testDatabase()

/** Next agent id and FID: each test has its own. */
let nextId = 1
const newId = () => nextId++
const clock = createClock('2026-06-01T00:00:00Z')

test('no misbehaviour of a host clears what is known or holds up the others', async () => {
  const { pool } = database
  const faults: readonly [HostFault, string, 'unreachable' | 'invalid' | 'ok'][] = [
    [{ kind: 'rate-limited', retryAfter: 600 }, 'postponed', 'ok'],
    [{ kind: 'status', status: 503, retryAfter: 600 }, 'postponed', 'ok'],
    [{ kind: 'status', status: 500 }, 'unreachable', 'unreachable'],
    [{ kind: 'status', status: 404 }, 'unreachable', 'unreachable'],
    [{ kind: 'hang' }, 'unreachable', 'unreachable'],
    [{ kind: 'drip' }, 'unreachable', 'unreachable'],
    [{ kind: 'cut' }, 'unreachable', 'unreachable'],
    [{ kind: 'truncated' }, 'unreachable', 'unreachable'],
    [{ kind: 'redirect-loop' }, 'unreachable', 'unreachable'],
    [{ kind: 'half-json' }, 'invalid', 'invalid'],
    [{ kind: 'html' }, 'invalid', 'invalid'],
    [{ kind: 'wrong-schema' }, 'invalid', 'invalid'],
    [{ kind: 'huge', bytes: 50 * 1024 * 1024 }, 'invalid', 'invalid'],
    [{ kind: 'bomb' }, 'invalid', 'invalid'],
  ]
  const hosts = await startHosts(faults.length + 1)
  const job = startAgentsJob({ database, clock, hosts })
  const ids = hosts.map(() => newId())
  for (const [index, host] of hosts.entries()) {
    host.pages.set(path, { body: { name: `agent ${index}`, supportedTrust: ['reputation'] } })
    await mint(pool, { id: ids[index]!, fid: ids[index]!, uri: `${host.url}${path}` })
  }
  await job.join()
  await job.read(source)

  for (const [index, [fault]] of faults.entries()) hosts[index]!.faults.add(fault, { times: Number.POSITIVE_INFINITY })
  hosts.at(-1)!.pages.set(path, { body: { name: 'well' } })
  const at = clock.pass(27 * hour)
  await job.read(source)
  expect((await documentOf(pool, ids.at(-1)!)).name).toBe('well')
  for (const [index, [fault, outcome, status]] of faults.entries()) {
    const state = await stateOf(pool, ids[index]!)
    const document = await documentOf(pool, ids[index]!)
    expect({ fault: fault.kind, ...state, ...document }).toMatchObject({
      fault: fault.kind,
      last_attempt_at: at,
      last_outcome: outcome,
      failures: outcome === 'postponed' ? 0 : 1,
      uri_status: status,
      name: `agent ${index}`,
      supported_trust: ['reputation'],
    })
    expect(state.last_success_at.getTime()).toBeLessThan(at.getTime())
  }

  for (const host of hosts) host.faults.clear()
  clock.pass(24 * hour)
  await job.read(source)
  expect((await Promise.all(ids.map((id) => documentOf(pool, id)))).map(({ uri_status }) => uri_status)).toEqual(
    ids.map(() => 'ok'),
  )
})

test('content comes from whichever gateway has it, and not from one that sends something else', async () => {
  const { pool } = database
  const gateways = await startGateways(3)
  const job = startAgentsJob({
    database,
    clock,
    hosts: gateways,
    env: { IPFS_GATEWAYS: gateways.map(({ url }) => url).join(',') },
  })
  const [silent, lying, good] = gateways as [(typeof gateways)[0], (typeof gateways)[0], (typeof gateways)[0]]
  const cid = good.add('{"name":"from the third"}')
  silent.faults.add({ kind: 'hang' }, { times: Number.POSITIVE_INFINITY })
  lying.pages.set(`/ipfs/${cid}`, { body: { name: 'a lie' } })
  const id = newId()
  const missing = newId()
  await mint(pool, { id, fid: id, uri: `ipfs://${cid}` })
  await job.join()
  await job.read(source)
  expect(await documentOf(pool, id)).toMatchObject({ uri_status: 'ok', name: 'from the third' })
  expect(await stateOf(pool, id)).toBeUndefined()

  silent.faults.clear()
  await mint(pool, { id: missing, fid: missing, uri: `ipfs://${rawCid('nowhere')}` })
  await job.join()
  await job.read(source)
  expect(await documentOf(pool, missing)).toMatchObject({ uri_status: 'unreachable', name: null })
})

test('a URI that changes while it is being read is read again, and the old answer is not stored', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [Awaited<ReturnType<typeof startHosts>>[number]]
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const id = newId()
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  host.pages.set('/old.json', () => released.then(() => ({ body: { name: 'old' } })))
  host.pages.set('/new.json', { body: { name: 'new' } })
  await mint(pool, { id, fid: id, uri: `${host.url}/old.json` })
  await job.join()
  const reading = job.read(source)
  await until('the old URI is asked for', () => host.requests.some((request) => request.path === '/old.json'))
  await setUri(pool, id, `${host.url}/new.json`)
  await job.join()
  release()
  expect(await reading).toEqual(['lease_lost', 'ok'])
  expect((await documentOf(pool, id)).name).toBe('new')
})

test('several workers share the tokens: each is asked for once', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [Awaited<ReturnType<typeof startHosts>>[number]]
  const workers = Array.from({ length: 3 }, () => startAgentsJob({ database, clock, hosts: [host] }))
  const ids = Array.from({ length: 60 }, newId)
  for (const id of ids) {
    host.pages.set(`/${id}.json`, { body: { name: `agent ${id}` } })
    await mint(pool, { id, uri: `${host.url}/${id}.json` })
  }
  await workers[0]!.join()
  await Promise.all(workers.map((worker) => worker.read(source)))
  expect(host.requests.map((request) => request.path).sort()).toEqual(ids.map((id) => `/${id}.json`).sort())
  expect((await Promise.all(ids.map((id) => documentOf(pool, id)))).map(({ name }) => name)).toEqual(
    ids.map((id) => `agent ${id}`),
  )
})
