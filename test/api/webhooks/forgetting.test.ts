import { expect, test } from 'vitest'
import { moveWebhook } from '../../../db/queries/webhooks/endpoints.ts'
import { appendWebhookEvents } from '../../../db/queries/webhooks/events.ts'
import { storeSendings } from '../../../db/queries/webhooks/sending.ts'
import { forgetOldRows } from '../../../enrichment/periodic/old-rows.ts'
import { testDatabase } from '../../support/database.ts'
import { insert } from '../../support/seed.ts'

const database = testDatabase()
const now = new Date('2026-07-01T00:00:00Z')
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000)
const attempt = (seq: number, at: Date) => ({ seq, at, outcome: 'http_5xx', elapsedMs: 1 })
const send = (id: string, attempts: ReturnType<typeof attempt>[], endedFor: 'failed' | null = null) =>
  storeSendings(database.pool, [{ id, moves: 0, afterSeq: 0, isAll: true, attempts, endedFor }], now)
const kept = async (table: string) =>
  (await database.pool.query<{ id: string }>(`select distinct id from ${table} order by id`)).rows.map(({ id }) => id)

test('of the attempts to send to an endpoint the newest 1,000 are kept', async () => {
  const all = Array.from({ length: 1_000 }, (_, seq) => attempt(seq, new Date(daysAgo(1).getTime() + seq)))
  await send('wh-busy', all)
  await send(
    'wh-busy',
    [1_000, 1_001].map((seq) => attempt(seq, now)),
  )
  const { rows } = await database.pool.query(
    `select count(*)::int as rows, min(seq)::int as oldest, max(seq)::int as newest from webhook_delivery where id = 'wh-busy'`,
  )
  expect(rows).toEqual([{ rows: 1_000, oldest: 2, newest: 1_001 }])
  await database.pool.query('delete from webhook_delivery')
  await database.pool.query('delete from webhook_standing')
})

test('an endpoint goes a day after it was deleted and 30 after it ended, and old attempts before it', async () => {
  const deleted = {
    'wh-standing': null,
    'wh-just-deleted': daysAgo(0.9),
    'wh-long-deleted': daysAgo(1.1),
    'wh-ended': null,
    'wh-ended-for-long': null,
    'wh-moved-since': null,
  }
  for (const [id, deletedAt] of Object.entries(deleted)) {
    await insert(database.pool, 'webhook', {
      id,
      fid: 1,
      url: 'https://ada.example/hooks',
      types: ['agent.listed'],
      method: 'eip191',
      nonce: id,
      proof_sha256: Buffer.alloc(32),
      token_sha256: Buffer.alloc(32),
      after_seq: 0,
      created_at: daysAgo(40),
      deleted_at: deletedAt,
    })
    const hasEnded = /ended$|long$|moved/.test(id) && deletedAt === null
    await send(id, [attempt(1, hasEnded ? daysAgo(31) : now)], hasEnded ? 'failed' : null)
  }
  const { pool } = database
  await pool.query(`update webhook_standing set ended_at = $1 where id in ('wh-ended-for-long', 'wh-moved-since')`, [
    daysAgo(30.1),
  ])
  await moveWebhook(pool, 'wh-moved-since', 0)
  while ((await forgetOldRows({ pool: database.pool, now: () => now })) > 0);
  expect(await kept('webhook')).toEqual(['wh-ended', 'wh-just-deleted', 'wh-moved-since', 'wh-standing'])
  expect(await kept('webhook_standing')).toEqual(['wh-ended', 'wh-just-deleted', 'wh-moved-since', 'wh-standing'])
  expect(await kept('webhook_delivery')).toEqual(['wh-just-deleted', 'wh-standing'])
})

test('of an agent that changes after a long time the change before stays as well, or the event would say that it came', async () => {
  const { pool } = database
  await insert(pool, 'agent_change', { fid: 9, kind: 'upsert', changed_at: daysAgo(40) })
  await insert(pool, 'agent_change', { fid: 9, kind: 'upsert', changed_at: daysAgo(31) })
  await insert(pool, 'agent_change', { fid: 9, kind: 'upsert', changed_at: now })
  const changes = async (at: Date) => {
    while ((await forgetOldRows({ pool, now: () => at })) > 0);
    return (await pool.query('select from agent_change where fid = 9')).rowCount
  }
  expect(await changes(now)).toBe(2)
  const [newest] = (await pool.query('select max(seq)::text as seq from agent_change where fid = 9')).rows
  const [event] = await appendWebhookEvents(pool, [`change:${newest.seq}`], false)
  expect(event?.type).toBe('agent.updated')
  expect(await changes(daysAgo(-31))).toBe(1)
})
