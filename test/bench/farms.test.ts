import { expect, test } from 'vitest'
import { generateHistory, historyMinutes } from '../../bench/farms/history.ts'
import { deriveRates, measureFlags, storeHistory } from '../../bench/farms/measure.ts'
import { flagRules } from '../../db/queries/sql/feedback.ts'
import { testDatabase } from '../support/database.ts'

const database = testDatabase()

test('farms of feedback are flagged, and hardly an honest client of any habit', { timeout: 300_000 }, async () => {
  const { pool } = database
  const history = generateHistory({ farm: 250, honest: 2_000, seed: 2 })
  expect(history.paid.every(({ minute }) => minute <= historyMinutes)).toBe(true)
  await storeHistory(pool, history)
  await deriveRates(pool)
  const { farms, honest, accused } = await measureFlags(pool, history)
  expect(farms.map(({ kind, recall }) => [kind, recall >= 0.95])).toEqual([
    ['one funder', true],
    ['sub-funders', true],
    ['funding chain', true],
    ['slow drip', true],
    ['never paying', true],
    ['one hour', true],
    ['circles', true],
    ['disguised', false], // they do what honest clients do
    ['circles with a payment', true],
    ['circles with more', true],
    ['circles across', false], // most are rated by others than their circle
    ['paying dust', true],
  ])
  for (const { kind, precision, recall } of farms) if (recall >= 0.95) expect(precision, kind).toBeGreaterThan(0.99)
  expect(accused).toBeLessThan(1 / 1_000)
  // Each habit is there, and each rule has flagged somebody.
  expect(honest.every(({ clients }) => clients > 20)).toBe(true)
  expect([...new Set(farms.flatMap(({ rules }) => Object.keys(rules)))].sort()).toEqual([...flagRules])
  const { rows } = await pool.query('select name from feedback_rule order by name')
  expect(rows.map(({ name }) => name)).toEqual([...flagRules])
})
