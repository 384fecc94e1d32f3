import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { sources } from '../../../config/sources.ts'
import { addSubjects } from '../../../db/queries/sources/source-state.ts'
import { startHub } from '../../../devnet/hub/server.ts'
import { HubState } from '../../../devnet/hub/state.ts'
import { testDatabase } from '../../support/database.ts'
import { spawnEnrichment } from '../../support/enrichment-process.ts'
import { insert } from '../../support/seed.ts'
import { until } from '../../support/until.ts'

const database = testDatabase()
const now = new Date()

test('the job sends to others while each of its loops waits for a receiver that does not answer', async () => {
  const { pool, url } = database
  const hub = await startHub(new HubState(), { apiKey: 'key' })
  const receivers = await startReceivers()
  const slow = Array.from({ length: sources.webhooks.loops }, (_, loop) => `127.0.0.${loop + 2}`)
  const quick = '127.0.0.1'
  await insert(pool, 'webhook_event', { subject: 'claim:7:1', type: 'agent.claimed', fid: 7, at: now, data: '{}' })
  const job = spawnEnrichment({
    DATABASE_URL: url,
    HUB_URL: hub.url,
    WEBHOOK_SECRET: 'a-secret-of-the-test-that-is-long-enough',
    EGRESS_ALLOW: [...slow, quick].map((host) => `${host}:${receivers.port}`).join(','),
  })
  onTestFinished(async () => {
    await job.kill('SIGKILL')
    await receivers.stop()
    await hub.stop()
  })
  const asked = [...slow, quick]
  for (const [place, host] of asked.entries()) {
    await register(`http://${host}:${receivers.port}/`)
    const hosts = asked.slice(0, place + 1)
    await until(`${hosts} wait at once`, () => wait(hosts, receivers.unanswered), { explain: job.output })
  }

  receivers.answer()
  expect(await job.kill('SIGTERM')).toBe(0)
  const { rows } = await pool.query('select distinct on (id) id, outcome from webhook_delivery order by id, at desc')
  expect(rows).toEqual(
    asked.map((host) => ({ id: idOf(host), outcome: 'ok' })).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  ) // the job waited until they were stored
})

const idOf = (host: string) => `wh-${host}`

/**
 * Whether all of these hosts are being asked. On a machine that is busy, one of them may have been given up before the next
 * was asked: the first such is due again, alone, so that one loop takes it.
 */
async function wait(hosts: readonly string[], unanswered: ReadonlyMap<string, unknown>): Promise<boolean> {
  const next = hosts.find((host) => !unanswered.has(host))
  if (next === undefined) return true
  await database.pool.query(
    'update source_state set due_at = $3, failures = 0 where source = $1 and subject = $2 and lease_id is null',
    [sources.webhooks.name, `webhook:${idOf(next)}`, now],
  )
  return false
}

/** A server at every address of this machine that answers when it is told to. */
async function startReceivers() {
  /** By the address that was asked, while the request is open. */
  const unanswered = new Map<string, ServerResponse>()
  const server = createServer((request, response) => {
    const host = new URL(`http://${request.headers.host}`).hostname
    request.resume()
    unanswered.set(host, response)
    response.once('close', () => unanswered.delete(host))
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    unanswered,
    answer() {
      for (const response of unanswered.values()) response.writeHead(204).end()
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Stores an endpoint that wants the event, to be sent to at once. */
async function register(url: string) {
  const id = idOf(new URL(url).hostname)
  await insert(database.pool, 'webhook', {
    id,
    fid: 7,
    url,
    types: ['agent.claimed'],
    method: 'eip191',
    nonce: id,
    proof_sha256: Buffer.alloc(32),
    token_sha256: Buffer.alloc(32),
    after_seq: 0,
    created_at: now,
  })
  await addSubjects(database.pool, sources.webhooks.name, [`webhook:${id}`], { priority: 0, dueAt: now })
}
