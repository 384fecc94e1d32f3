import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { descendantsOf, stillRunning } from '../../support/processes.ts'
import { until } from '../../support/until.ts'
import { all, estimateRequests, type LoadRun, startLoadRun } from './load-run.ts'

let run: LoadRun
beforeAll(async () => {
  run = await startLoadRun()
})
afterAll(() => run?.end())

const shards = 3
/** Milliseconds for five runs of the command, of four processes each. */
const timeoutMs = 400_000
/** Moments of the kills, in milliseconds after the first shard was reserved: from before the first row to the exchange. */
const moments = [0, 200, 400]

test(
  'killed at any moment, and started again each time, it ends with the rows of the processor',
  async () => {
    const database = await run.database()
    const args = [...all, '--workers', shards]
    for (const moment of moments) {
      const { child, ended } = await run.start(database, args)
      await until('the load has begun or ended', async () => {
        const { rows } = await database.pool.query(
          `select 1 from pg_stat_activity where datname = current_database() and application_name ~ '^backfill base from'`,
        )
        return rows.length > 0 || child.exitCode !== null
      })
      await delay(moment)
      const family = descendantsOf(child.pid as number)
      child.kill('SIGKILL')
      await ended
      await until('its workers have ended with it', () => stillRunning(family).length === 0)
    }
    const { code, stderr } = await run.load(database, args)
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(await run.difference(database)).toBe('')
    expect((await run.load(database, [...all, '--verify'])).code).toBe(0)
  },
  timeoutMs,
)

test(
  'a worker that is killed ends the load with one line; the same command goes on',
  async () => {
    const database = await run.database()
    run.portal.faults.add({ kind: 'silence', lines: 10 }, { skip: estimateRequests, times: 2 })
    const { child, ended } = await run.start(database, [...all, '--workers', 2])
    await until('both workers wait for the Portal', () => run.portal.faults.pending === 0)
    const worker = descendantsOf(child.pid as number).find(({ command }) => command.includes('backfill/worker/main.ts'))
    process.kill(worker?.pid as number, 'SIGKILL')
    const { code, stderr } = await ended
    expect(code).toBe(1)
    expect(stderr).toMatch(/^blocks from \d+ on: its process ended \(SIGKILL\)\n$/)
    expect((await run.load(database)).code).toBe(0)
    expect(await run.difference(database)).toBe('')
  },
  timeoutMs,
)
