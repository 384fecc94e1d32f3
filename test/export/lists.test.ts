import { readFileSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { isUnlistedSince } from '../../db/queries/exports/exports.ts'
import type { ServedManifest } from '../../export/served/manifest.ts'
import { paceOf } from '../../export/served/pace.ts'
import { serveRound } from '../../export/served/round.ts'
import { minute } from '../../ops/time.ts'
import { startApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { exportFolder, proofTerms } from '../support/exports.ts'
import { insert, seedAgent } from '../support/seed.ts'

// The lists of the served files, as they are while a round goes on.

const database = testDatabase()
const changed = (fid: number) =>
  insert(database.pool, 'agent_change', { fid, kind: 'upsert', changed_at: new Date('2026-03-01') })
beforeAll(async () => {
  for (const fid of [1, 2]) await seedAgent(database.pool, { fid, chains: ['base'] })
  await changed(1)
})

const baseUrl = 'https://api.agents.example'
const round = (
  folder: string,
  day: string,
  { look = () => {}, tell = () => {} }: { look?: () => void; tell?: (line: string) => void } = {},
) =>
  serveRound({
    pool: database.pool,
    folder,
    pace: paceOf(10_000_000),
    installation: { registries: {} as never, baseUrl },
    terms: proofTerms(baseUrl),
    now: () => {
      look()
      return new Date(`${day}T12:00:00Z`)
    },
    tell,
  })

test('a list that is written while snapshots are has the position in the log that its profiles were taken at', async () => {
  const folder = await exportFolder()
  const listed = (): ServedManifest => JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  await round(folder, '2026-03-06')
  const before = listed().log
  await changed(2)
  const lists: ServedManifest[] = []
  /** After the last snapshot an hour goes by, so that the list is written at once. */
  const tell = (line: string) => {
    if (!line.startsWith('specs/')) return
    const late = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_600_000)
    onTestFinished(() => late.mockRestore())
  }
  await round(folder, '2026-03-07', { tell, look: () => lists.push(listed()) })
  const after = listed().log
  expect(after?.seq).toBeGreaterThan(before?.seq ?? 0)
  const positions = { '2026-03-06': before, '2026-03-07': after } as Record<string, ServedManifest['log']>
  const days = lists.map(({ files }) => files.find(({ dataset }) => dataset === 'profiles')?.partition.snapshot ?? '')
  expect(days).toContain('2026-03-07') // before the round was over
  expect(lists.map(({ log }) => log)).toEqual(days.map((day) => positions[day]))
})

test('the API has a list and a data package of the same files, also when a round stops between the two', async () => {
  const folder = await exportFolder()
  await round(folder, '2026-03-06')
  const api = await startApi(database, { exportDir: folder })
  onTestFinished(() => api.stop())
  const listed = async () => {
    const manifest = (await (await api.get('/exports/manifest.json')).json()) as ServedManifest
    const { resources } = (await (await api.get('/exports/datapackage.json')).json()) as {
      resources: { path: string[] }[]
    }
    return { files: manifest.files.map(({ path }) => path), resources: resources.flatMap(({ path }) => path) }
  }
  const before = await listed()
  const obstacle = join(folder, 'datapackage.json.partial')
  await mkdir(obstacle)
  await expect(round(folder, '2026-03-07')).rejects.toThrow('EISDIR')
  expect(await listed()).toEqual(before)
  await rm(obstacle, { recursive: true })
  await round(folder, '2026-03-07')
  const { files, resources } = await listed()
  expect(resources).toEqual(files)
  expect(files).not.toEqual(before.files)
})

test('an account that takes itself out is in no snapshot from the next round on', async () => {
  const { pool } = database
  const folder = await exportFolder()
  const snapshots = async () =>
    (await readdir(folder, { recursive: true })).filter((path) => /snapshot=.*part-/.test(path))
  await round(folder, '2026-03-08')
  const before = await snapshots()
  expect(before).not.toEqual([])
  await round(folder, '2026-03-08')
  expect(await snapshots()).toEqual(before)
  await pool.query(
    `with gone as (delete from agent where fid = 2),
          change as (insert into agent_change (fid, kind, changed_at) values (2, 'delist', clock_timestamp()))
     insert into unlisted (fid, since) values (2, clock_timestamp())`,
  )
  await round(folder, '2026-03-08')
  const after = await snapshots()
  const isOfAgents = (path: string) => path.startsWith('agents/')
  expect(after.filter(isOfAgents)).toHaveLength(1)
  expect(before).not.toContain(after.find(isOfAgents))
  await round(folder, '2026-03-08')
  expect(await snapshots()).toEqual(after)
})

test('a round that is killed as soon as its new snapshots are listed keeps none from before of who took itself out', async () => {
  const { pool } = database
  const folder = await exportFolder()
  const listed = (): ServedManifest => JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  await pool.query('delete from unlisted')
  await seedAgent(pool, { fid: 5, chains: ['base'] })
  await round(folder, '2026-03-09')
  const before = listed().files.map(({ path }) => path)
  await pool.query('delete from agent where fid = 5')
  await pool.query('insert into unlisted (fid, since) values (5, clock_timestamp())')
  const tell = (line: string) => {
    if (!line.startsWith('specs/')) return
    const late = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_600_000)
    onTestFinished(() => late.mockRestore())
  }
  const isListed = () => listed().files.some(({ path }) => path.includes('/snapshot=') && !before.includes(path))
  const look = () => {
    if (isListed()) throw new Error('killed')
  }
  await expect(round(folder, '2026-03-09', { tell, look })).rejects.toThrow('killed')
  vi.restoreAllMocks()
  await round(folder, '2026-03-09')
  expect(listed().replaced.filter(({ path }) => path.includes('/snapshot='))).toEqual([])
  const there = (await readdir(folder, { recursive: true })).filter((path) => /snapshot=.*part-/.test(path))
  expect(there.sort()).toEqual(listed().files.flatMap(({ path }) => (path.includes('/snapshot=') ? path : [])))
})

test('of an account that took itself out just before a snapshot, it is asked once more when that is some minutes old', async () => {
  await database.pool.query(`delete from unlisted`)
  await database.pool.query(`insert into unlisted (fid, since) values (3, now() - interval '11 minutes')`)
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * minute).toISOString()
  const asked = [12, 10, 5.5, 4, 0].map((minutes) => isUnlistedSince(database.pool, minutesAgo(minutes)))
  expect(await Promise.all(asked)).toEqual([true, true, false, false, false])
})
