import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testDatabase } from '../../../support/database.ts'
import { rounds } from '../../../support/rounds.ts'
import { dayMs, empty, expectExactTables, expectExactWindows, rollUp, timeOf } from '../world.ts'
import { claims, type Kind, kinds, type Step, steps, World } from './steps.ts'

const database = testDatabase()
/** Random histories that are tried. */
const histories = rounds(6, 30)

test('hours, totals, payers, senders and windows are those of the settlements, whatever happens to a chain', async () => {
  const taken = new Set<Kind>()
  const minutes = fc.integer({ min: -1, max: 80 * 24 * 60 })
  // The same in every run: together they take every kind of step, which six random ones now and then do not.
  const examples = fc.sample(fc.tuple(claims, steps, minutes), { numRuns: histories / 2, seed: 17 })
  await fc.assert(
    fc
      .asyncProperty(claims, steps, minutes, async (first, then, minute) => {
        const world = new World(database)
        const now = new Date(+timeOf(0) + minute * 60_000)
        for (const step of [...first, ...then]) {
          if (!(await world.take(step))) continue
          taken.add(step.kind)
          await expectExactTables(database)
          // The very moment at which a settlement leaves a window.
          const [row] = step.rows ?? []
          if (row && !world.archived) await expectExactWindows(database, new Date(+timeOf(row.block) + 30 * dayMs))
        }
        await rollUp(database, 7)
        await expectExactTables(database)
        if (await world.take({ kind: 'restore' } as Step)) taken.add('restore')
        await expectExactWindows(database, now)
        await expectExactTables(database)
        await expectExactWindows(database, now)
      })
      .beforeEach(() => empty(database)),
    { numRuns: histories, examples },
  )
  expect([...taken].sort()).toEqual(Object.keys(kinds).sort())
})
