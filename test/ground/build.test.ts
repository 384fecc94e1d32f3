import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { listFiles, root } from '../support/source-files.ts'

/** Inside the project, so that the packages are found from there. */
mkdirSync(join(root, '.data'), { recursive: true })
const dist = mkdtempSync(join(root, '.data/build-'))
const mains = listFiles()
  .filter((path) => /^(db|processors|enrichment|api|export|trust)\/(.*\/)?main\.ts$/.test(path))
  .map((path) => path.replace(/\.ts$/, '.js'))
/** Those a person starts; one deeper in a room is started by another. */
const commands = mains.filter((main) => main.split('/').length === 2).map((main) => ({ main }))

/** The compiler takes ten seconds on a free machine. */
const compileMs = 300_000

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  const build = spawnSync(process.execPath, ['scripts/build.mjs', '--out', dist], { cwd: root, encoding: 'utf8' })
  expect(build.stdout + build.stderr).toContain(`processes: ${mains.sort().join(', ')}\n`)
}, compileMs)
afterAll(async () => {
  rmSync(dist, { recursive: true, force: true })
  await database.drop()
})

test.for(commands)('$main runs from the build without a loader', ({ main }) => {
  expect(run(main, '--help')).toMatchObject({ stderr: '', status: 0 })
})

test('the build carries the migrations along', async () => {
  await database.pool.query('drop schema public cascade; create schema public')
  const { stdout, status } = run('db/main.js')
  expect(stdout).toMatch(/^applied 0001_registrations\.sql\n/)
  expect(status).toBe(0)
})

test('the build carries along what the pages load', () => {
  expect(readdirSync(join(dist, 'api/pages/assets'))).toEqual(readdirSync(join(root, 'api/pages/assets')))
})

test('the local world and the tests stay out of the build', () => {
  const folders = readdirSync(dist)
  expect(folders.filter((name) => ['devnet', 'test', 'bench'].includes(name))).toEqual([])
})

function run(main: string, ...args: string[]) {
  const env = { PATH: process.env.PATH, DATABASE_URL: database.url }
  return spawnSync(process.execPath, [join(dist, main), ...args], { cwd: dist, env, encoding: 'utf8' })
}
