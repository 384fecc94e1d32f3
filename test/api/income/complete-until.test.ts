import { beforeAll, expect, test } from 'vitest'
import { facilitatorList } from '../../../api/schemas/income/facilitators.ts'
import { agentIncome, incomeSeries, incomeStats } from '../../../api/schemas/income/income.ts'
import { agentSeries } from '../../../api/schemas/settlements/timeseries.ts'
import { facilitators } from '../../../db/facilitator-list.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { runIncome } from '../../derive/passes.ts'
import { startApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, birth, insert, seedAgent, seedChainState, seedPayment, seedSettlement } from '../../support/seed.ts'

const database = testDatabase()
const [own, left] = ['own', 'left'].map(addressOf) as [string, string]
const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
const facilitator = facilitators[0]?.senders[0] as string
const at = (hours: number) => new Date(birth.getTime() + hours * 3_600_000)
const lastHour = 1_000

let paid = 0
/** Stores one more payment in a block that is not final, an hour after the one before. Returns its time, a full hour. */
async function pay(recipient: string): Promise<Date> {
  paid++
  const time = at(paid)
  await seedSettlement(database.pool, { chain: 'base', recipient, facilitator, block: paid, at: time })
  return time
}
const rollUp = async () => {
  await database.pool.query('update chain_state set finalized_block = $1', [paid])
  while ((await rollUpSettlements(database)) > 0);
}
const settle = async () => {
  await rollUp()
  while ((await runIncome(database)) > 0);
}

beforeAll(async () => {
  const { pool } = database
  await seedChainState(pool, { chain: 'base', indexed: lastHour, finalized: 0, at: at(lastHour) })
  await seedAgent(pool, { fid: 7, addresses: [own, left] })
  await insert(pool, 'agent_change', { fid: 7, kind: 'upsert', changed_at: birth })
  await settle()
})

/** Asks an API without any cached answer, and does something after that many statements of the request. */
async function ask(path: string, statements = Number.POSITIVE_INFINITY, meanwhile = async () => {}) {
  let asked = 0
  const query = async (config: { text: string }) => {
    const result = await database.pool.query(config)
    asked++
    if (asked === statements) await meanwhile()
    return result
  }
  const { pool } = database
  const counts = { totalCount: 0, idleCount: 0, waitingCount: 0, cancelledCount: 0 }
  const api = await startApi(database, {
    database: { ...counts, query: query as typeof pool.query },
    now: () => at(lastHour).getTime(),
  })
  try {
    return { body: await (await api.get(path)).json(), asked }
  } finally {
    await api.stop()
  }
}

const series = `/api/agent/7/income/timeseries?since=${at(0).toISOString()}`
const answers: [path: string, counted: (body: unknown) => { complete_until: string | null; payments: number }][] = [
  ['/api/agent/7/income', (body) => ({ ...agentIncome.parse(body), payments: agentIncome.parse(body).raw.payments })],
  [
    series,
    (body) => {
      const { complete_until, points } = incomeSeries.parse(body)
      return { complete_until, payments: points.reduce((sum, point) => sum + point.payments, 0) }
    },
  ],
  ['/api/income/stats', (body) => ({ ...incomeStats.parse(body), payments: incomeStats.parse(body).raw.payments })],
  [
    '/api/facilitators',
    (body) => {
      const { complete_until, facilitators: all } = facilitatorList.parse(body)
      return { complete_until, payments: all[0]?.settlements ?? 0 }
    },
  ],
  [
    `/api/agent/7/timeseries?since=${at(0).toISOString()}`,
    (body) => {
      const { complete_until, points } = agentSeries.parse(body)
      return { complete_until, payments: points.reduce((sum, point) => sum + point.settlements, 0) }
    },
  ],
]

test.each(answers)(
  '%s has what is before `complete_until`, whatever is summed up while it is read',
  async (path, counted) => {
    const { asked } = await ask(path)
    expect(asked).toBeGreaterThan(1)
    for (let statement = 1; statement < asked; statement++) {
      const before = paid
      await pay(own)
      const { body } = await ask(path, statement, async () => {
        await pay(own)
        await settle()
      })
      const { complete_until, payments } = counted(body)
      const isCounted = payments === paid
      const firstLeftOut = at(Math.max(before, payments) + 1)
      expect([statement, isCounted || `${complete_until}` <= firstLeftOut.toISOString()]).toEqual([statement, true])
      // Nothing else waits, so that an answer read at rest is complete.
      expect(counted((await ask(path)).body)).toMatchObject({
        complete_until: at(lastHour).toISOString(),
        payments: paid,
      })
    }
  },
)

test('payments of an address that the agent gave up are waited for until they are out of its sums', async () => {
  const { pool } = database
  const time = await pay(left)
  await settle()
  const total = paid
  await pool.query('update agent set verified_addresses = $1 where fid = 7', [[bytes(own)]])
  await pool.query('update verified_address set ended_at = now() where address = $1', [bytes(left)])
  await insert(pool, 'agent_change', { fid: 7, kind: 'upsert', changed_at: birth })
  // The addresses are followed, and no hour is summed up yet.
  while ((await runIncome({ pool, steps: { changes: 100, rings: 100, hours: 0, payments: 0 } })) > 0);
  for (const [path, counted] of answers.slice(0, 2)) {
    expect(counted((await ask(path)).body)).toMatchObject({ complete_until: time.toISOString(), payments: total })
  }
  await settle()
  for (const [path, counted] of answers.slice(0, 2)) {
    const now = counted((await ask(path)).body)
    expect(now).toMatchObject({ complete_until: at(lastHour).toISOString(), payments: total - 1 })
  }
})

test('a Permit2 payment in a block that is not summed up yet ends what is complete, like a settlement', async () => {
  paid++
  const waits = at(paid)
  await seedPayment(database.pool, {
    kind: 'permit2_exact',
    payee: own,
    payer: addressOf('payer'),
    block: paid,
    amount: 1n,
    at: waits,
  })
  for (const [path, counted] of answers) {
    expect([path, counted((await ask(path)).body).complete_until]).toEqual([path, waits.toISOString()])
  }
  await settle()
  for (const [path, counted] of answers) {
    expect([path, counted((await ask(path)).body).complete_until]).toEqual([path, at(lastHour).toISOString()])
  }
})
