import { expect, test } from 'vitest'
import { placeBesideReader } from '../../support/chain/placing.ts'

test('5 million', { timeout: 900_000 }, async () => {
  const run = await placeBesideReader(5_000_000)
  console.log(JSON.stringify(run))
  expect(run.rows).toBe(run.expected)
  expect(run.slowest).toBeLessThan(1000)
})
