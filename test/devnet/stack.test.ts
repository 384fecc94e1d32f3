import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createStack, type Stack, type Task } from '../../devnet/stack.ts'
import { createFreshDatabase } from '../../devnet/stack-database.ts'
import { endLeftovers, ProcessFile } from '../../devnet/stack-processes.ts'
import { createReport } from '../../devnet/stack-report.ts'
import { summarize } from '../../devnet/stack-summary.ts'
import { planTasks, readSettings, withoutSources } from '../../devnet/stack-tasks.ts'
import { Interrupted, Teardown, together } from '../../devnet/stack-teardown.ts'
import { createTestDatabase } from '../tools/database.ts'
import { descendantsOf, stillRunning } from '../tools/processes.ts'

const deadline = { timeout: 20_000 }

let folder: string
let said: string[]
let stack: Stack
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stack-test-'))
  said = []
  const processes = new ProcessFile(join(folder, 'processes.json'))
  stack = createStack({
    logFolder: join(folder, 'logs'),
    processes,
    say: (line) => said.push(line),
    graceMs: 1_000,
  })
})
afterEach(async () => {
  await stack.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** A task whose program is this text; `note` is a file it can append lines to. */
function program(name: string, text: string): Task {
  const file = join(folder, `${name}.mjs`)
  const head = `import { appendFileSync, readFileSync } from 'node:fs'\nconst note = ${JSON.stringify(notes())}\n`
  writeFileSync(file, head + text)
  return { name, command: [file], env: { PATH: process.env.PATH } }
}
const notes = () => join(folder, 'notes')
const noted = () => (existsSync(notes()) ? readFileSync(notes(), 'utf8').trim().split('\n') : [])
const alive = `process.on('SIGTERM', () => { appendFileSync(note, NAME + ' stops\\n'); process.exit() })
appendFileSync(note, NAME + ' runs\\n')
setInterval(() => {}, 1000)\n`
const living = (name: string) => program(name, `const NAME = '${name}'\n${alive}`)
const recorded = () =>
  JSON.parse(readFileSync(join(folder, 'processes.json'), 'utf8')) as { pid: number; name: string }[]

describe('a stack', () => {
  test('starts a process that ended by itself again, and says so once with its last words', async () => {
    stack.start([
      program(
        'flaky',
        `appendFileSync(note, 'try\\n')
console.log(JSON.stringify({ msg: 'the tide was low' }))
if (readFileSync(note, 'utf8').split('\\n').length > 3) setInterval(() => {}, 1000)
else process.exit(3)\n`,
      ),
    ])
    await expect.poll(noted, deadline).toEqual(['try', 'try', 'try'])
    expect(said).toEqual(['flaky ended (exit 3) and is started again; its last words: the tide was low'])
    expect(readFileSync(join(folder, 'logs', 'flaky.log'), 'utf8').match(/tide/g)?.length).toBeGreaterThanOrEqual(2)
  })

  test('stops its groups in the opposite order and leaves no process', async () => {
    stack.start([living('first')])
    stack.start([living('second')])
    await expect.poll(() => noted().length, deadline).toBe(2)
    const running = recorded().flatMap(({ pid }) => descendantsOf(pid))
    expect(running).toHaveLength(2)
    await stack.stop()
    expect(noted().slice(2)).toEqual(['second stops', 'first stops'])
    expect(stillRunning(running)).toEqual([])
    expect(recorded()).toEqual([])
    expect(said).toEqual([])
  })

  test('makes a process end that does not end when asked', async () => {
    stack.start([
      program('deaf', `process.on('SIGTERM', () => {})\nappendFileSync(note, 'up\\n')\nsetInterval(() => {}, 9)`),
    ])
    await expect.poll(noted, deadline).toEqual(['up'])
    const running = recorded().flatMap(({ pid }) => descendantsOf(pid))
    await stack.stop()
    expect(stillRunning(running)).toEqual([])
  })

  test('killed, is gone at once', async () => {
    stack.start([living('one'), living('two')])
    await expect.poll(() => noted().length, deadline).toBe(2)
    const running = recorded().flatMap(({ pid }) => descendantsOf(pid))
    stack.kill()
    await expect.poll(() => stillRunning(running), deadline).toEqual([])
    expect(noted()).toHaveLength(2)
  })
})

describe('what a killed run left behind', () => {
  test('is found by number and start time, ended, and named', async () => {
    stack.start([living('orphan')])
    await expect.poll(() => noted().length, deadline).toBe(1)
    const running = recorded().flatMap(({ pid }) => descendantsOf(pid))
    expect(await endLeftovers(join(folder, 'processes.json'))).toEqual(['orphan'])
    expect(stillRunning(running)).toEqual([])
  })

  test('is never a stranger who has the number now', async () => {
    const stranger = spawn('sleep', ['60'], { stdio: 'ignore', detached: true })
    const entry = { name: 'api', pid: stranger.pid, startTime: '1' }
    writeFileSync(join(folder, 'old.json'), JSON.stringify([entry]))
    expect(await endLeftovers(join(folder, 'old.json'))).toEqual([])
    expect(stranger.exitCode).toBe(null)
    stranger.kill()
    await once(stranger, 'exit')
    expect(await endLeftovers(join(folder, 'missing.json'))).toEqual([])
  })
})

describe('a teardown', () => {
  const resource = (name: string, log: string[], fails = false) => ({
    stop: async () => {
      log.push(name)
      if (fails) throw new Error(`${name} is stuck`)
    },
  })

  test('stops everything in the opposite order, also past a failure, and reports it', async () => {
    const log: string[] = []
    const teardown = new Teardown()
    await teardown.own(resource('database', log))
    await teardown.own(resource('stack', log, true))
    await teardown.own(resource('traffic', log))
    await expect(teardown.stopAll()).rejects.toThrow('stack is stuck')
    expect(log).toEqual(['traffic', 'stack', 'database'])
  })

  test('stops at once what was still being started when it was interrupted', async () => {
    const log: string[] = []
    const teardown = new Teardown()
    teardown.interrupt()
    await expect(teardown.own(resource('late', log))).rejects.toThrow(Interrupted)
    expect(log).toEqual(['late'])
  })

  test('of two starts waits for both before it reports the failure of one', async () => {
    let ended = false
    const slow = new Promise<number>((resolve) => setImmediate(() => resolve(1))).finally(() => {
      ended = true
    })
    await expect(together(Promise.reject(new Error('no anvil')), slow)).rejects.toThrow('no anvil')
    expect(ended).toBe(true)
  })
})

test('a fresh database is made beside the one DATABASE_URL names, which stays as it is', async () => {
  const named = await createTestDatabase()
  const [, name] = /\/([^/]+)$/.exec(named.url) as unknown as [string, string]
  try {
    await named.pool.query('create table kept (n int)')
    const first = await createFreshDatabase(folder, named.url)
    expect(new URL(first.url).pathname).toBe(`/${name}_devnet`)
    const client = new pg.Client({ connectionString: first.url })
    await client.connect()
    client.on('error', () => {}) // the second one throws it out
    await client.query(`insert into agent_change (fid, kind, changed_at) values (1, 'upsert', now())`)
    const second = await createFreshDatabase(folder, named.url)
    const again = new pg.Client({ connectionString: second.url })
    await again.connect()
    expect((await again.query('select from agent_change')).rowCount).toBe(0)
    await again.end()
    await client.end().catch(() => {})
    expect((await named.pool.query('select from kept')).rowCount).toBe(0)
    await named.pool.query(`drop database "${name}_devnet" with (force)`)
  } finally {
    await named.drop()
  }
})

describe('the processes of a stack', () => {
  test('are the processors, the job that joins and the API, each with metrics of its own', async () => {
    const { processors, enrichment, api } = await planTasks(['base', 'celo'], { DATABASE_URL: 'postgres://x/y' })
    const all = [...processors, ...enrichment, ...api]
    expect(all.map(({ command }) => command.join(' '))).toEqual([
      'processors/main.ts base',
      'processors/main.ts celo',
      'enrichment/main.ts',
      'api/main.ts',
    ])
    const ports = [...processors, ...enrichment].map(({ env }) => env.METRICS_PORT)
    expect(new Set(ports).size).toBe(3)
    for (const { command } of all) expect(existsSync(new URL(`../../${command[0]}`, import.meta.url))).toBe(true)
  })

  test('of a local world are told nothing of public sources or of anybody’s data', () => {
    const told = withoutSources({
      PATH: '/bin',
      LOG_LEVEL: 'debug',
      LIMIT_PER_MINUTE: '9',
      RPC_BASE: 'https://node.example/key',
      PORTAL_API_KEY: 'k',
      DATABASE_URL: 'postgres://a/b',
      NEYNAR_API_KEY: 'n',
      GITHUB_TOKEN: 'g',
      PORT: '1',
    })
    expect(told).toEqual({ PATH: '/bin', LOG_LEVEL: 'debug', LIMIT_PER_MINUTE: '9' })
  })

  test('are not started with settings that one of them would refuse', () => {
    expect(() => readSettings({ LIMIT_PER_DAY: 'many' }, undefined)).toThrow(/LIMIT_PER_DAY/)
    expect(() => readSettings({ HUB_POLL_SECONDS: 'often' }, undefined)).toThrow(/HUB_POLL_SECONDS/)
    expect(() => readSettings({}, { base: { finality: -1 } })).toThrow(/base\.finality/)
  })
})

test('on public networks the summary names each source, says what is off and why, and shows no key', () => {
  const env = {
    RPC_BASE: 'https://node.example/v2/secret-key',
    NEYNAR_API_KEY: 'secret-key',
    REDIS_URL: 'redis://:secret-key@cache.example:6379',
    GATEWAY_CELO: 'http://archive.example:8080',
  }
  const file = { gnosis: { enabled: false }, polygon: { portal: null, rpc: 'http://p.example' } }
  const lines = summarize(readSettings(env, file), env)
  const text = lines.join('\n')
  expect(text).not.toContain('secret-key')
  expect(text).toMatch(/^base +history from the Portal portal\.sqd\.dev \(base-mainnet\); tip from node\.example$/m)
  expect(text).toMatch(
    /^celo +history from the archive archive\.example:8080; final blocks alone: RPC_CELO is not set$/m,
  )
  expect(text).toMatch(/^polygon +history and tip from p\.example$/m)
  expect(text).toMatch(/^gnosis +off in CHAINS_FILE$/m)
  expect(text).toMatch(/^look-up +Neynar api\.neynar\.com$/m)
  expect(text).toMatch(/^limits +Redis cache\.example:6379$/m)
  const bare = summarize(readSettings({}, undefined), {}).join('\n')
  for (const variable of ['RPC_ETHEREUM', 'HUB_URL', 'NEYNAR_API_KEY', 'REDIS_URL']) {
    expect(bare).toContain(`${variable} is not set`)
  }
})

test('progress is shown every two seconds with the time that is left, and a step with the time it took', () => {
  let now = 0
  const lines: string[] = []
  const report = createReport(
    (line) => lines.push(line),
    () => now,
  )
  report.progress('history', 0.05)
  now = 3_000
  report.progress('history', 0.25, 'of much')
  now = 3_500
  report.progress('history', 0.3)
  now = 12_000
  report.stage('history', 'all of it')
  expect(lines).toEqual(['  history   25 %, about 9 s left, of much', '  history   all of it (12.0 s)'])
})
