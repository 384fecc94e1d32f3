import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { sources } from '../../../config/sources.ts'
import { addSubjects } from '../../../db/queries/sources/source-state.ts'
import { startHub } from '../../../devnet/hub/server.ts'
import { HubState } from '../../../devnet/hub/state.ts'
import { testDatabase } from '../../support/database.ts'
import { spawnEnrichment } from '../../support/enrichment-process.ts'
import { insert } from '../../support/seed.ts'
import { until } from '../../support/until.ts'

const kills = 4
const eventsPerRound = 12
const hosts = Array.from({ length: 8 }, (_, n) => `127.0.0.${n + 2}`)
/** Timeout in milliseconds: five processes start one after the other. */
const timeout = 400_000

const database = testDatabase()
const now = new Date()
const idOf = (host: string) => `wh-${host}`

test(`a job killed ${kills} times between what was sent to webhooks and its storing loses no event, and sends none under two ids`, {
  timeout,
}, async () => {
  const { pool, url } = database
  const hub = await startHub(new HubState(), { apiKey: 'key' })
  const receivers = await startReceivers()
  const start = () =>
    spawnEnrichment({
      DATABASE_URL: url,
      HUB_URL: hub.url,
      WEBHOOK_SECRET: 'a-secret-of-the-test-that-is-long-enough',
      EGRESS_ALLOW: hosts.map((host) => `${host}:${receivers.port}`).join(','),
    })
  let job = start()
  onTestFinished(async () => {
    await job.kill('SIGKILL')
    await receivers.stop()
    await hub.stop()
  })
  for (const host of hosts) await register(host, receivers.port)

  for (let round = 0; round < kills; round++) {
    await until('nothing is sent', isIdle, { explain: job.output })
    const stored = await standings()
    const before = receivers.received.length
    // In turn everything was taken and waits to be stored, and everybody was sent a part and does not answer the next.
    const isSent = round % 2 === 0
    if (isSent) {
      const lock = await pool.connect()
      await lock.query('begin; lock table webhook_standing in share row exclusive mode')
      await tellMore(round)
      await until('what was sent waits to be stored', isStoring, { explain: job.output })
      expect(await job.kill('SIGKILL')).toBe('SIGKILL')
      expect(await standings()).toEqual(stored)
      await lock.query('rollback')
      lock.release()
    } else {
      receivers.hold(eventsPerRound / 2)
      await tellMore(round)
      await until('nobody answers', () => receivers.unanswered.size === hosts.length, { explain: job.output })
      expect(await job.kill('SIGKILL')).toBe('SIGKILL')
      receivers.hold(undefined)
    }
    expect(receivers.received.length).toBeGreaterThan(before)
    job = start()
    await untilThrough()
  }

  const repeated = new Set<string>()
  for (const host of hosts) {
    const own = receivers.received.filter((one) => one.host === host)
    const bodies = new Map<string, string>()
    for (const { id, body } of own) {
      if (bodies.has(id)) repeated.add(host)
      expect(bodies.get(id) ?? body).toBe(body)
      bodies.set(id, body)
    }
    const { rows } = await pool.query<{ seq: number }>('select seq from webhook_event order by seq')
    expect(rows).toHaveLength(kills * eventsPerRound)
    // In order, each under the id of its number.
    expect([...bodies.keys()]).toEqual(rows.map(({ seq }) => `${idOf(host)}_${seq}`))
    expect([...bodies.values()].map((body) => JSON.parse(body).data.seq)).toEqual(rows.map(({ seq }) => Number(seq)))
  }
  expect(repeated.size).toBeGreaterThan(0) // a kill came between
})

/** Adds events that all endpoints want, and has those be sent to at once. */
async function tellMore(round: number) {
  for (let n = 0; n < eventsPerRound; n++)
    await insert(database.pool, 'webhook_event', {
      subject: `claim:7:${round * eventsPerRound + n}`,
      type: 'agent.claimed',
      fid: 7,
      at: now,
      data: '{}',
    })
  await wake()
}

/** Has all endpoints be sent to: leases of who was killed are over. */
async function wake() {
  await database.pool.query('update source_state set due_at = $2 where source = $1', [sources.webhooks.name, now])
}

async function isStoring(): Promise<boolean> {
  const { rows } = await database.pool.query(`select from pg_locks join pg_stat_activity using (pid)
     where not granted and relation = 'webhook_standing'::regclass and application_name = 'enrichment'`)
  return rows.length > 0
}

async function isIdle(): Promise<boolean> {
  const { rows } = await database.pool.query(
    'select from source_state where source = $1 and (lease_id is not null or due_at <= now())',
    [sources.webhooks.name],
  )
  return rows.length === 0
}

async function standings() {
  const { rows } = await database.pool.query('select id, after_seq, last_success_at from webhook_standing order by id')
  return rows
}

/** Wakes them until all were sent everything. */
async function untilThrough() {
  await wake()
  await until('all were sent everything', async () => {
    const { rows } = await database.pool.query<{ through: number }>(
      `select count(*)::int as through from webhook_standing where after_seq = (select max(seq) from webhook_event)`,
    )
    return rows[0]?.through === hosts.length
  })
}

async function register(host: string, port: number) {
  const id = idOf(host)
  await insert(database.pool, 'webhook', {
    id,
    fid: 7,
    url: `http://${host}:${port}/`,
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

/** A server at every address of this machine that keeps what it is sent. */
async function startReceivers() {
  const received: { readonly host: string; readonly id: string; readonly body: string }[] = []
  const unanswered = new Map<string, ServerResponse>()
  /** How many more each host answers; undefined: all. */
  let answers: Map<string, number> | undefined
  const server = createServer(async (request, response) => {
    const host = new URL(`http://${request.headers.host}`).hostname
    response.once('close', () => unanswered.delete(host))
    received.push({ host, id: String(request.headers['webhook-id']), body: await text(request) })
    const left = answers?.get(host)
    if (left === 0) {
      unanswered.set(host, response)
      return
    }
    if (left !== undefined) answers?.set(host, left - 1)
    response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    received,
    unanswered,
    hold(most: number | undefined) {
      answers = most === undefined ? undefined : new Map(hosts.map((host) => [host, most]))
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
