import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '../support/database.ts'
import { type MainOptions, signalUntilEnded, startMain } from '../support/mains.ts'
import { until } from '../support/until.ts'

/** A server that answers no request; it cuts them after 1.5 s, before their timeout, to keep the test short. */
const silent = createServer((request) => setTimeout(() => request.destroy(), 1_500))
const folder = mkdtempSync(join(tmpdir(), 'stop-test-'))
const database = testDatabase()
let silentUrl: string
let asked = 0

beforeAll(async () => {
  silent.on('request', () => asked++)
  await once(silent.listen(0, '127.0.0.1'), 'listening')
  silentUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  writeFileSync(join(folder, 'chains.json'), JSON.stringify({ base: { rpc: silentUrl, portal: silentUrl } }))
})
afterAll(async () => {
  silent.closeAllConnections()
  silent.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Case {
  readonly main: string
  readonly args?: readonly string[]
  readonly env?: MainOptions['env']
  /** State in which it is stopped: waiting for an answer, waiting for a lock, or serving. */
  readonly amid: 'request' | 'lock' | 'service'
  readonly code: number
}
const cases: Case[] = [
  { main: 'processors/main.ts', args: ['base'], amid: 'request', code: 0 },
  { main: 'enrichment/main.ts', amid: 'request', code: 0 },
  { main: 'api/main.ts', amid: 'service', code: 0 },
  { main: 'api/graphql/main.ts', amid: 'service', code: 0 },
  {
    main: 'processors/backfill/main.ts',
    args: words('--chain base --from 1 --to 9 --workers 1'),
    amid: 'lock',
    code: 143,
  },
  {
    main: 'export/main.ts',
    args: words(`--what settlements --format csv --out ${folder}/export`),
    amid: 'lock',
    code: 143,
  },
]

test.each(cases)('$main ends with $code on SIGTERM, amid a $amid, however often it is sent', async (one) => {
  const child = await start(one)
  expect(await signalUntilEnded(child, 'SIGTERM')).toBe(one.code)
})

test('a person who presses Ctrl-C again, and not by echo, waits no longer', async () => {
  const child = await start({ main: 'api/main.ts', env: { STOP_PAUSE_SECONDS: '60' }, amid: 'service', code: 0 })
  const began = Date.now()
  expect(await signalUntilEnded(child, 'SIGINT')).toBe('SIGINT')
  expect(Date.now() - began).toBeGreaterThanOrEqual(500)
  expect(Date.now() - began).toBeLessThan(60_000)
})

function words(text: string): string[] {
  return text.split(' ')
}

/** Starts a process and resolves once it is in the state `amid`. */
async function start({ main, args, env, amid }: Case): Promise<ChildProcess> {
  if (amid === 'lock') await lockTables()
  const before = asked
  const settings = {
    DATABASE_URL: database.url,
    CHAINS_FILE: join(folder, 'chains.json'),
    HUB_URL: silentUrl,
    FACILITATOR_HOSTS: 'off',
  }
  const ports = { PORT: '0', GRAPHQL_PORT: '0', METRICS_PORT: '0' }
  const child = startMain(main, args, { env: { ...settings, ...ports, ...env } })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (output += text))
  const isBusy = async () => {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${main} ended:\n${output}`)
    if (amid === 'request') return asked > before
    if (amid === 'service') return output.includes('"listening"')
    const { rows } = await database.pool.query(
      `select from pg_locks join pg_database d on d.oid = database where datname = current_database() and not granted`,
    )
    return rows.length > 0
  }
  await until(`${main} is amid a ${amid}`, isBusy)
  return child
}

/** Locks settlement and chain_state against readers until the test ends. */
async function lockTables() {
  const client = await database.pool.connect()
  await client.query('begin; lock table settlement, chain_state in access exclusive mode')
  onTestFinished(async () => {
    await client.query('rollback')
    client.release()
  })
}
