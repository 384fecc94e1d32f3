import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { chainNames } from '../../config/chains.ts'
import { devnetReadyMs, startDevnet } from '../support/devnet.ts'
import { descendantsOf, stillRunning } from '../support/processes.ts'
import { until } from '../support/until.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'interrupted-test-'))
  chmodSync(folder, 0o755) // as root the database runs as another user, who has to reach its data
  return () => rmSync(folder, { recursive: true, force: true })
})

function start() {
  const { child, ...devnet } = startDevnet(folder)
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { ...devnet, child, ended }
}

test.each([1, 2])('interrupted half-way by %i signals, it leaves no process', async (signals) => {
  const { child, output, ended } = start()
  await expect.poll(output, { timeout: devnetReadyMs }).toContain('started')
  const all = descendantsOf(child.pid as number)
  expect(all.length).toBeGreaterThan(7)
  for (let sent = 0; sent < signals; sent++) {
    child.kill('SIGINT')
    await expect.poll(output).toContain('stopping')
  }
  await ended
  await expect.poll(() => stillRunning(all)).toEqual([])
})

/** The processes of the stack that have not logged anything yet. */
function silentProcesses(): string[] {
  const names = [...chainNames.map((name) => `processor-${name}`), 'enrichment', 'api', 'graphql']
  const log = (name: string) => join(folder, 'logs', `${name}.log`)
  return names.filter((name) => !existsSync(log(name)) || statSync(log(name)).size === 0)
}

test('killed half-way, the next start ends what it left behind, and answers', async () => {
  const killed = start()
  await until('every process has logged something', () => silentProcesses().length === 0, { withinMs: devnetReadyMs })
  const before = descendantsOf(killed.child.pid as number)
  killed.child.kill('SIGKILL')
  await killed.ended
  expect(stillRunning(before).length).toBeGreaterThan(5)
  const next = start()
  await next.untilReady()
  expect(next.output()).toMatch(/ended processes that an earlier run left behind: .*processor-base/)
  const { api, agents } = next.world()
  expect((await fetch(`${api}/api/agent/${agents[0]?.fid}`)).status).toBe(200)
  const all = [...before, ...descendantsOf(next.child.pid as number)]
  next.child.kill('SIGINT')
  await next.ended
  await expect.poll(() => stillRunning(all)).toEqual([])
})
