import { expect, test } from 'vitest'
import { testDatabase } from '../../support/database.ts'

const database = testDatabase()

test('a session that summed up few moved facilitators sums up many by as little', async () => {
  const client = await database.pool.connect()
  const plans: string[] = []
  client.on('notice', ({ message }) => plans.push(message ?? ''))
  try {
    await client.query(
      `insert into settlement_facilitator (recipient, facilitator, chain, overload, first_at, last_at, n, amount)
       select decode(lpad(to_hex(i), 40, '0'), 'hex'), decode(lpad(to_hex(i % 7), 40, '0'), 'hex'), 'base', false,
              '2026-01-01', '2026-01-02', 1, i
         from generate_series(1, 5000) i`,
    )
    const move = (rows: number) =>
      client.query(
        `update settlement_facilitator
            set first_at = first_at + interval '1 minute', last_at = last_at + interval '1 minute', n = n + 2, amount = amount + 5
          where recipient <= decode(lpad(to_hex($1::int), 40, '0'), 'hex')`,
        [rows],
      )
    // Postgres plans a prepared statement for its values only the first five times; later ones may use a generic plan.
    for (let time = 0; time < 8; time++) await move(1)
    await client.query(`load 'auto_explain'`)
    await client.query(
      `select set_config('auto_explain.' || name, value, false)
         from (values ('log_min_duration', '0'), ('log_nested_statements', 'on'), ('log_analyze', 'on'), ('log_level', 'notice')) s (name, value)`,
    )
    await move(5_000)
  } finally {
    client.release(true)
  }

  expect(plans.filter((plan) => plan.includes('facilitator_total')).length).toBeGreaterThan(0)
  const compared = plans
    .flatMap((plan) => [...plan.matchAll(/Rows Removed by Join Filter: (\d+)/g)])
    .map(([, n]) => Number(n))
  expect(Math.max(0, ...compared), 'pairs of rows compared').toBeLessThan(100_000)
  const { rows } = await database.pool.query(
    `select t.* from facilitator_total t
       full join (select facilitator, chain, overload, min(first_at) as first_at, max(last_at) as last_at, sum(n) as n, sum(amount) as amount
                    from settlement_facilitator group by 1, 2, 3) counted using (facilitator, chain, overload)
      where (t.first_at, t.last_at, t.n, t.amount) is distinct from (counted.first_at, counted.last_at, counted.n, counted.amount)`,
  )
  expect(rows, 'sums that are not those of the rows').toEqual([])
})
