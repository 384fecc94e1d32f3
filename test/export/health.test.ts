import { expect, test } from 'vitest'
import { createHealth } from '../../export/served/health.ts'

test('the health of the process says whether a round has ended, and when one no longer moves', async () => {
  let at = 0
  const health = createHealth({ rowsPerSecond: 50_000, everyMinutes: 60, now: () => at })
  expect([health.notReady(), health.stuck()]).toEqual(['no round has ended yet', undefined])
  health.began()
  at += 59 * 60_000
  await health.watched(async () => {})(7)
  at += 59 * 60_000
  expect(health.stuck()).toBeUndefined()
  at += 2 * 60_000
  expect(health.stuck()).toBe('a round has written nothing for 3660 seconds')
  health.ended(3)
  at += 24 * 60 * 60_000
  expect([health.notReady(), health.stuck()]).toEqual([undefined, undefined])
  const metrics = await health.metrics()
  expect(metrics).toMatch(/^agent_directory_export_rows_total 7$/m)
  expect(metrics).toMatch(/^agent_directory_export_files_total 3$/m)
  expect(metrics).toMatch(/^agent_directory_export_round_ended_timestamp_seconds 7200$/m)
  expect(metrics).toMatch(/^agent_directory_export_interval_seconds 3600$/m)
})
