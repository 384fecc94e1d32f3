import { expect, test } from 'vitest'
import { webhookLimits } from '../../../config/limits.claims.ts'
import { type WebhookToSend, webhooksToSend } from '../../../db/queries/webhooks/sending.ts'
import { testDatabase } from '../../support/database.ts'
import { blocksRead } from '../../support/recording.ts'
import { rowsRead } from '../../support/rows-read.ts'
import { insert } from '../../support/seed.ts'

const database = testDatabase()
const events = 20_000
/** Numbers of the one event of a rare type, and of the one large payment among many small ones. */
const rare = 15_000
const large = 10_001

async function register(id: string, wishes: object) {
  await insert(database.pool, 'webhook', {
    id,
    fid: 1,
    url: 'https://ada.example/hooks',
    method: 'eip191',
    nonce: id,
    proof_sha256: Buffer.alloc(32),
    token_sha256: Buffer.alloc(32),
    after_seq: 0,
    created_at: new Date(),
    ...wishes,
  })
}

async function taken(id: string): Promise<WebhookToSend> {
  const [endpoint] = await webhooksToSend(database.pool, [id], 20)
  return endpoint!
}

test('a replay walks over what an endpoint does not want in pieces, and finds the one that it wants', async () => {
  const { pool } = database
  await pool.query(
    `insert into webhook_event (subject, type, fid, at, data)
     select n::text, case when n = $2 then 'agent.claimed' when n % 2 = 1 then 'settlement.received' else 'agent.updated' end,
            1 + n % 100, now(), jsonb_build_object('amount_usdc', case when n = $3 then 5000 else 1 end)
       from generate_series(1, $1::int) n`,
    [events, rare, large],
  )
  await pool.query('analyze webhook_event')
  await register('wh-rare', { types: ['agent.claimed'] })
  await register('wh-large', { types: ['settlement.received'], min_amount: 1_000 })
  await register('wh-own', { types: ['settlement.received'], fids: '{2}', min_amount: 1_000 })

  expect(await taken('wh-rare')).toMatchObject({ events: [{ seq: rare }], isAll: true, seenTo: events })
  // Of each, one event in so many is looked at.
  for (const [id, of] of [
    ['wh-rare', events],
    ['wh-large', 2],
    ['wh-own', 100],
  ] as const) {
    const found: number[] = []
    let steps = 0
    for (let isAll = false; !isAll; steps++) {
      const endpoint = await taken(id)
      found.push(...endpoint.events.map(({ seq }) => seq))
      isAll = endpoint.isAll
      expect(await blocksRead(pool, (db) => webhooksToSend(db, [id], 20))).toBeLessThan(400)
      await pool.query('update webhook set after_seq = $2 where id = $1', [id, endpoint.seenTo])
    }
    expect([id, found]).toEqual([id, [id === 'wh-rare' ? rare : large]])
    expect(steps).toBeLessThanOrEqual(1 + Math.ceil(events / of / 200))
  }
})

test('of each of many accounts few events are looked at, and none is passed over', async () => {
  const fids = Array.from({ length: webhookLimits.fids }, (_, n) => n + 1)
  await register('wh-many', { types: ['agent.claimed', 'agent.updated'], fids, after_seq: 14_000 })
  const read = await rowsRead(database.pool, (db) => webhooksToSend(db, ['wh-many'], 20), ['webhook_event'])
  expect(read).toBeLessThanOrEqual(2_500)
  // One of them has events alone, so that the others' last ones lie far behind its.
  await database.pool.query(
    `insert into webhook_event (subject, type, fid, at, data) select 'own ' || n, 'agent.updated', 7, now(), '{}' from generate_series(1, 300) n`,
  )
  const found: number[] = []
  for (let isAll = false; !isAll; ) {
    const endpoint = await taken('wh-many')
    found.push(...endpoint.events.map(({ seq }) => seq))
    isAll = endpoint.isAll && endpoint.events.length < 20
    const sentTo = endpoint.events.length < 20 ? endpoint.seenTo : endpoint.events.at(-1)?.seq
    await database.pool.query('update webhook set after_seq = $2 where id = $1', ['wh-many', sentTo])
  }
  const { rows } = await database.pool.query(
    `select seq::int from webhook_event where seq > 14000 and type in ('agent.claimed', 'agent.updated') order by seq`,
  )
  expect(found).toEqual(rows.map(({ seq }) => seq))
})
