import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chainNames } from '../../config/chains.ts'
import { type RunningWorld, startWorld } from '../../devnet/running-world.ts'
import { chainSettings } from '../../devnet/world/settings.ts'
import { testDatabase } from '../support/database.ts'
import { signalUntilEnded, startMain } from '../support/mains.ts'
import { descendantsOf, stillRunning } from '../support/processes.ts'

const folder = mkdtempSync(join(tmpdir(), 'mainnet-test-'))
let running: RunningWorld
const database = testDatabase()
let child: ChildProcess | undefined

beforeAll(async () => {
  running = await startWorld({ seed: 'mainnet' })
  await running.layPast({ blockSeconds: 1 })
})
afterAll(async () => {
  if (child?.exitCode === null) {
    child.kill('SIGINT')
    await once(child, 'exit')
  }
  await running?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** `npm run start:mainnet` in a folder of its own, with nothing but that folder's .env. */
function start(env: Record<string, string>) {
  writeFileSync(
    join(folder, '.env'),
    Object.entries(env)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  )
  const started = startMain('stack/main.ts', [], { cwd: folder })
  child = started
  let output = ''
  const collect = (text: Buffer) => {
    output += text
  }
  started.stdout?.on('data', collect)
  started.stderr?.on('data', collect)
  return { started, output: () => output }
}

test('settings that cannot work are named, all at once, and nothing is started', async () => {
  const { started, output } = start({ RPC_BASE: 'nonsense', LIMIT_PER_DAY: 'many', HUB_POLL_SECONDS: 'often' })
  await once(started, 'exit')
  expect(started.exitCode).toBe(1)
  for (const name of ['LIMIT_PER_DAY', 'RPC_BASE', 'HUB_POLL_SECONDS']) expect(output()).toContain(name)
  expect(output()).not.toContain('    at ')
})

test('the chains that are switched on are indexed, agents answer, and Ctrl-C, with however many SIGTERMs, leaves no process', async () => {
  // Registrations of Base count from its third block on: what was paid before them is the backfill's.
  const all = chainSettings(running.chains, new Map([['base', 1]]))
  const file = Object.fromEntries(
    chainNames.map((name) => [name, name === 'base' ? all.base : { ...all[name], enabled: false }]),
  )
  writeFileSync(join(folder, 'chains.json'), JSON.stringify(file))
  const { started, output } = start({
    DATABASE_URL: database.url,
    CHAINS_FILE: 'chains.json',
    HUB_URL: running.hub.url,
    HUB_POLL_SECONDS: '1',
    PORT: '0',
    GITHUB_URL: 'http://127.0.0.1:1',
  })
  const ready = /^ready (http:\/\/127\.0\.0\.1:\d+)\n/m
  await expect.poll(output).toMatch(ready)
  const [, api] = ready.exec(output()) as RegExpExecArray
  expect(output()).toMatch(/base +history and tip from 127\.0\.0\.1/)
  expect(output()).toMatch(/celo +off in CHAINS_FILE/)
  expect(output()).toMatch(/^ {2}not reached: 127\.0\.0\.1:1 \(ECONNREFUSED\): labels and profiles$/m)
  expect(output()).toMatch(
    /^ {2}missing: settlements before the registries of base, .*\n.*until npm run backfill -- --all has run$/m,
  )
  const { fid } = running.world.people.agents[0] as RunningWorld['world']['people']['agents'][number]
  const chainsOf = async () => {
    const response = await fetch(`${api}/api/agent/${fid}`)
    return ((await response.json()) as { chains?: string[] }).chains
  }
  await expect.poll(chainsOf, { interval: 2_000 }).toEqual(['Base'])
  const processes = descendantsOf(started.pid as number)
  expect(processes.filter(({ command }) => command.includes('processors/main.ts'))).toHaveLength(1)
  started.kill('SIGINT')
  // Two signals sent at once may arrive in either order, and a SIGINT after a SIGTERM means to stop without waiting.
  await expect.poll(output).toContain('stopping')
  expect(await signalUntilEnded(started, 'SIGTERM'), output()).toBe(0)
  expect(stillRunning(processes)).toEqual([])
  expect(readFileSync(join(folder, '.data', 'logs', 'processor-base.log'), 'utf8')).toContain('indexing base')
})
