import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../../postgres/embedded.ts'
import { folderOfRun, removeLeftovers } from '../support/database-server.ts'
import { descendantsOf, stillRunning } from '../support/processes.ts'
import { until } from '../support/until.ts'

test('a run ends the server and removes the data of one that was killed, and of no other', async () => {
  const place = await mkdtemp(join(tmpdir(), 'agent-directory-leftovers-'))
  onTestFinished(() => rm(place, { recursive: true, force: true }))
  await chmod(place, 0o755)
  const { pid: dead } = spawnSync('true')
  const left = await folderOfRun(place, dead)
  await chmod(left, 0o755)
  const server = await startPostgres({ dataFolder: join(left, 'postgres'), durable: false })
  const others = [await folderOfRun(place), join(place, 'agent-directory-test-1-1-x'), join(place, 'something-else')]
  for (const other of others) await mkdir(other, { recursive: true })
  const running = descendantsOf(server.pid)
  expect(running).not.toEqual([])
  await until('its data are gone', async () => {
    await removeLeftovers(place)
    return !existsSync(left)
  })
  expect(others.map((other) => existsSync(other))).toEqual([true, true, true])
  await until('its server has ended', () => stillRunning(running).length === 0)
})

test('what a killed run has mounted keeps no later one from beginning', async () => {
  const place = await mkdtemp(join(tmpdir(), 'agent-directory-leftovers-'))
  onTestFinished(() => rm(place, { recursive: true, force: true }))
  const { pid: dead } = spawnSync('true')
  const left = await folderOfRun(place, dead)
  const mounted = join(left, 'images', 'overlay')
  await mkdir(mounted, { recursive: true })
  // Only root can, and only root's runs leave any: without, the folder is removed as it is.
  spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', mounted])
  onTestFinished(() => void spawnSync('umount', ['--lazy', mounted]))
  await removeLeftovers(place)
  expect(existsSync(left)).toBe(false)
})
