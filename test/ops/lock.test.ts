import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { isLocked, withLock } from '../../ops/lock.mjs'

const waitMs = 20_000
const holders = new Set<ChildProcess>()
afterEach(() => {
  for (const holder of holders) holder.kill('SIGKILL')
  holders.clear()
})

test('of many who want the lock only one has it at a time', async () => {
  const name = randomUUID()
  let inside = 0
  const most: number[] = []
  const work = async () => {
    most.push(++inside)
    await new Promise((resolve) => setImmediate(resolve))
    inside--
  }
  await Promise.all(Array.from({ length: 20 }, () => withLock({ name, waitMs }, work)))
  expect(most).toEqual(Array(20).fill(1))
})

test('whoever asks is told whether a lock is held, and does not get it', async () => {
  const name = randomUUID()
  expect(await isLocked(name)).toBe(false)
  expect(await withLock({ name, waitMs }, () => isLocked(name))).toBe(true)
  expect(await isLocked(name)).toBe(false)
})

test('other names are other locks', async () => {
  const result = await withLock({ name: randomUUID(), waitMs }, () =>
    withLock({ name: randomUUID(), waitMs: 0 }, async () => 'both'),
  )
  expect(result).toBe('both')
})

test('work that fails gives the lock back and its error on', async () => {
  const name = randomUUID()
  await expect(withLock({ name, waitMs }, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  expect(await withLock({ name, waitMs: 0 }, async () => 'free')).toBe('free')
})

test('a process that is killed gives the lock back at once', async () => {
  const name = randomUUID()
  const holder = await holdElsewhere(name)
  let waits = 0
  const got = withLock({ name, waitMs, onWait: () => waits++ }, async () => 'got')
  await new Promise((resolve) => setImmediate(resolve))
  holder.kill('SIGKILL')
  expect(await got).toBe('got')
  expect(waits).toBe(1)
})

test('whoever waits too long is told which lock it was', async () => {
  const name = randomUUID()
  await holdElsewhere(name)
  const wait = withLock({ name, waitMs: 50 }, async () => 'never')
  await expect(wait).rejects.toThrow(`another process has held the lock "${name}"`)
})

/** Starts another process that holds the lock until it is killed. */
async function holdElsewhere(name: string): Promise<ChildProcess> {
  const lock = JSON.stringify(new URL('../../ops/lock.mjs', import.meta.url).href)
  const script = `
    const { withLock } = await import(${lock})
    setInterval(() => {}, 1000)
    await withLock({ name: ${JSON.stringify(name)}, waitMs: 0 }, () => new Promise(() => console.log('held')))
  `
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  holders.add(holder)
  await once(holder.stdout, 'data')
  return holder
}
