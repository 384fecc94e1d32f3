import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, countSettlements, insert, seedAgent, seedSettlement } from '../support/seed.ts'
import { root } from '../support/source-files.ts'

const database = testDatabase()
let api: TestApi
let folder: string
beforeAll(async () => {
  const { pool } = database
  for (const fid of [1, 2, 3]) {
    await seedAgent(pool, { fid, addresses: fid === 1 ? [addressOf('one')] : [] })
    await insert(pool, 'agent_change', { fid, kind: 'upsert', changed_at: new Date() })
  }
  for (const block of [1, 2]) await seedSettlement(pool, { chain: 'base', recipient: addressOf('one'), block })
  await countSettlements(pool)
  folder = await mkdtemp(join(tmpdir(), 'client-package-'))
  api = await startApi(database)
})
afterAll(async () => {
  await api.stop()
  await rm(folder, { recursive: true })
})

test('the package as it is packed installs into an empty folder without a network, with its types and its command', async () => {
  const run = promisify(execFile)
  const env = { PATH: process.env.PATH, HOME: process.env.HOME }
  const elsewhere = join(folder, 'installed')
  await mkdir(elsewhere)
  await run('npm', ['pack', '--silent', '--pack-destination', elsewhere], { cwd: join(root, 'client'), env })
  const [archive = ''] = await readdir(elsewhere)
  expect(archive).toMatch(/^agent-directory-client-.*\.tgz$/)
  await writeFile(join(elsewhere, 'package.json'), '{ "type": "module" }')
  const quiet = ['--offline', '--silent', '--no-audit', '--no-fund']
  await run('npm', ['install', ...quiet, `./${archive}`], { cwd: elsewhere, env })
  expect((await readdir(join(elsewhere, 'node_modules'))).filter((name) => !name.startsWith('.'))).toEqual([
    'agent-directory-client',
  ])
  await writeFile(
    join(elsewhere, 'use.ts'),
    `import { AgentDirectory, type AgentProfile, DirectoryError } from 'agent-directory-client'
const directory = new AgentDirectory(process.argv[2] ?? '')
const agent: AgentProfile = await directory.agent(1)
const handle: string | null = agent.handle
const missing: unknown = await directory.agent(999).catch((error: unknown) => error)
// @ts-expect-error: an agent is asked for by its number
const wrong = () => directory.agent('one')
console.log(JSON.stringify([handle, missing instanceof DirectoryError && missing.code, typeof wrong]))
declare const process: { argv: string[] }
`,
  )
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const strict = ['--strict', '--module', 'nodenext', '--target', 'es2023', 'use.ts']
  await run(process.execPath, [compiler, ...strict], { cwd: elsewhere, env })
  const used = await run(process.execPath, ['use.js', api.url], { cwd: elsewhere, env })
  expect(JSON.parse(used.stdout)).toEqual(['agent1', 'ERR_NOT_FOUND', 'function'])

  const command = async (...args: string[]) => {
    const bin = join(elsewhere, 'node_modules/.bin/agent-directory')
    return run(bin, args, { cwd: elsewhere, env: { ...env, AGENT_DIRECTORY_URL: api.url } })
  }
  const lines = async (...args: string[]) =>
    (await command(...args, '--format', 'ndjson')).stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
  expect((await lines('agents', '--limit', '3')).length).toBe(3)
  expect(await lines('agent', '1')).toMatchObject([{ fid: 1 }])
  expect(await lines('settlements', '--fid', '1', '--limit', '2')).toMatchObject([{ chain: 'base' }, { chain: 'base' }])
  await command('mirror', '--file', 'all.json')
  expect(JSON.parse(await readFile(join(elsewhere, 'all.json'), 'utf8')).agents[1]).toMatchObject({ fid: 1 })
  expect((await command('--help')).stdout).toContain('agent-directory mirror')
})
