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
  for (const host of slow) {
    await register(`http://${host}:${receivers.port}/`)
    await until(`${host} was asked`, () => receivers.unanswered.has(host), { explain: job.output })
  }
  await register(`http://${quick}:${receivers.port}/`)
  await until(`${quick} was asked`, () => receivers.unanswered.has(quick))
  expect([...receivers.unanswered.keys()]).toEqual([...slow, quick])

  receivers.answer()
  expect(await job.kill('SIGTERM')).toBe(0)
  const { rows } = await pool.query('select outcome from webhook_delivery')
  expect(rows).toEqual([...slow, quick].map(() => ({ outcome: 'ok' }))) // the job waited until they were stored
})

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
  const id = `wh-${new URL(url).hostname}`
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
