import { type ChildProcess, spawn } from 'node:child_process'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../../ops/ports.ts'
import { testTimeoutMs } from './until.ts'

/** A real redis-server of the test's own. */
export interface TestRedis {
  readonly url: string
  /** Runs one command and gives the raw reply; for commands without spaces in their arguments. */
  command(line: string): Promise<string>
  /** Frozen: connections stay, nothing is answered. */
  freeze(): void
  thaw(): void
  /** Kills the server. */
  kill(): Promise<void>
  /** A new, empty server on the same port. */
  restart(settings?: Record<string, string>): Promise<void>
  stop(): Promise<void>
}

/** `start: false`: the port is chosen, and nobody listens there until `restart`. */
export async function startRedis({ start = true, settings = {} as Record<string, string> } = {}): Promise<TestRedis> {
  const port = await freePort()
  let child = start ? await launch(port, settings) : undefined
  const kill = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child?.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    command: (line) => ask(port, line),
    freeze: () => child?.kill('SIGSTOP'),
    thaw: () => child?.kill('SIGCONT'),
    kill,
    async restart(changed = settings) {
      await kill()
      child = await launch(port, changed)
    },
    stop: kill,
  }
}

async function launch(port: number, settings: Record<string, string>): Promise<ChildProcess> {
  // A replica writes what its master sends to a file, wherever saving is turned off.
  const fixed = {
    port: String(port),
    bind: '127.0.0.1',
    dir: tmpdir(),
    dbfilename: `${port}.rdb`,
    save: '',
    appendonly: 'no',
    ...settings,
  }
  const args = Object.entries(fixed).flatMap(([name, value]) => [`--${name}`, value])
  const child = spawn('redis-server', args, { stdio: 'ignore' })
  let failure: Error | undefined
  child.once('error', (error) => {
    failure = error
  })
  const deadline = Date.now() + testTimeoutMs
  while (Date.now() < deadline) {
    if (failure) throw new Error(`redis-server does not start (${failure.message}); apt-get install redis-server`)
    if (child.exitCode !== null) throw new Error(`redis-server ended with code ${child.exitCode}`)
    if (await ask(port, 'PING').catch(() => '')) return child
    await delay(10)
  }
  child.kill('SIGKILL')
  throw new Error(`redis-server did not answer within ${testTimeoutMs} ms`)
}

function ask(port: number, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${line}\r\n`))
    socket.once('data', (reply) => {
      socket.destroy()
      resolve(reply.toString())
    })
    socket.once('error', reject)
  })
}
