import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { endLeftovers, ProcessFile } from '../../stack/processes.ts'
import { createStack, type Stack, type Task } from '../../stack/supervisor.ts'
import { bothSettled, Interrupted, Teardown } from '../../stack/teardown.ts'
import { descendantsOf, stillRunning } from '../support/processes.ts'

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

/** A task that runs this program text; in it, `note` is the path of a file to append lines to. */
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
    await expect.poll(noted).toEqual(['try', 'try', 'try'])
    expect(said).toEqual(['flaky ended (exit 3) and is being restarted; its last words: the tide was low'])
    expect(readFileSync(join(folder, 'logs', 'flaky.log'), 'utf8').match(/tide/g)?.length).toBeGreaterThanOrEqual(2)
  })

  test('tells the last words of a log of any length', async () => {
    const path = join(folder, 'logs', 'talker.log')
    stack.start([
      program(
        'talker',
        `import { truncateSync } from 'node:fs'
appendFileSync(note, 'try\\n')
if (readFileSync(note, 'utf8').split('\\n').length > 2) setInterval(() => {}, 1000)
else {
  truncateSync(${JSON.stringify(path)}, 3 * 2 ** 30)
  console.log('\\nthe tide was low')
  process.exit(3)
}\n`,
      ),
    ])
    await expect.poll(noted).toEqual(['try', 'try'])
    expect(said).toEqual(['talker ended (exit 3) and is being restarted; its last words: the tide was low'])
  })

  test('stops its groups in the opposite order and leaves no process', async () => {
    stack.start([living('first')])
    stack.start([living('second')])
    await expect.poll(() => noted().length).toBe(2)
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
    await expect.poll(noted).toEqual(['up'])
    const running = recorded().flatMap(({ pid }) => descendantsOf(pid))
    await stack.stop()
    expect(stillRunning(running)).toEqual([])
  })

  test('killed, is gone at once', async () => {
    stack.start([living('one'), living('two')])
    await expect.poll(() => noted().length).toBe(2)
    const running = recorded().flatMap(({ pid }) => descendantsOf(pid))
    stack.kill()
    await expect.poll(() => stillRunning(running)).toEqual([])
    expect(noted()).toHaveLength(2)
  })
})

describe('what a killed run left behind', () => {
  test('is found by number and start time, ended, and named', async () => {
    stack.start([living('orphan')])
    await expect.poll(() => noted().length).toBe(1)
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

  test('killed, ends a server that was still being started, too', async () => {
    const server = spawn('sleep', ['600'], { stdio: 'ignore', detached: true })
    const gone = once(server, 'exit')
    const teardown = new Teardown()
    const killed: string[] = []
    await teardown.own({ stop: async () => {}, kill: () => void killed.push('stack') })
    teardown.endServer(server.pid as number)
    teardown.interrupt()
    teardown.killAll()
    expect(await gone).toEqual([null, 'SIGTERM'])
    expect(killed).toEqual(['stack'])
    teardown.killAll() // it is gone already, which is fine
  })

  test('of two starts waits for both before it reports the failure of one', async () => {
    let ended = false
    const slow = new Promise<number>((resolve) => setImmediate(() => resolve(1))).finally(() => {
      ended = true
    })
    await expect(bothSettled(Promise.reject(new Error('no anvil')), slow)).rejects.toThrow('no anvil')
    expect(ended).toBe(true)
  })
})
