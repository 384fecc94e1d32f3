import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { devnetReadyMs, startDevnet } from '../support/devnet.ts'
import { descendantsOf, stillRunning } from '../support/processes.ts'

test.each([1, 2])('interrupted half-way by %i signals, it leaves no process', async (signals) => {
  const folder = mkdtempSync(join(tmpdir(), 'interrupted-test-'))
  chmodSync(folder, 0o755) // as root the database runs as another user, who has to reach its data
  const { child, output } = startDevnet(folder)
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
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
