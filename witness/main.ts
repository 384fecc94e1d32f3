import { mkdirSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { AgentDirectory } from '../client/client.ts'
import { firstSeen, readerOf } from '../client/log-check.ts'
import { runCommand, UsageError } from '../ops/cli.ts'
import { listen } from '../ops/ports.ts'
import { untilStopSignal } from '../ops/stop.ts'
import { cosigner } from '../transparency/cosignature.ts'
import { makeLogKey } from '../transparency/log-key.ts'
import { witnessServer } from './server.ts'
import { WatchedLog } from './watched-log.ts'

const usage = `
npm run witness -- --of URL [--folder F] [--name N] [--log-key KEY] [--host H] [--port N] [--every SECONDS] [--once]

Watches the transparency log of a service for others: reads all of it, checks that each checkpoint goes on from those before,
and cosigns it (C2SP tlog-cosignature). The service sends its checkpoints to POST /add-checkpoint if LOG_WITNESSES names this
witness, as KEY@URL with the key that is printed first. Run it where the operator of the service has no access.

  --of URL         address of the service, https://…
  --folder F       where its key, the last checkpoint, and both sides of a contradiction are kept (.data/witness)
  --name N         name under which it signs (the name of this host)
  --log-key KEY    key of the log, as you know it (the first that was seen)
  --host H         address to listen on (127.0.0.1)
  --port N         TCP port to listen on (3400)
  --every SECONDS  pause between two looks at the log (10)
  --once           looks once, prints the cosignature and ends; listens nowhere

Exit code 0: stopped, or cosigned. 1: the log contradicts what it signed before, or does not answer. 2: the arguments are wrong.
`

const text = { type: 'string' } as const
const options = {
  of: text,
  folder: text,
  name: text,
  'log-key': text,
  host: text,
  port: text,
  every: text,
  once: { type: 'boolean' },
} as const

await runCommand({ usage, options }, async ({ values }) => {
  const { of, folder = '.data/witness', name = hostname(), host = '127.0.0.1', once } = values
  if (of === undefined || !URL.canParse(of)) throw new UsageError('--of must be the address of a service (see --help)')
  if (!/^[^\s+]+$/.test(name)) throw new UsageError('--name must have no blank and no plus (see --help)')
  const port = numberOf('port', values.port ?? '3400', 65_535)
  const everyMs = numberOf('every', values.every ?? '10', 86_400) * 1_000
  mkdirSync(folder, { recursive: true })
  const keyFile = join(folder, 'key.pem')
  makeLogKey(keyFile)
  const self = cosigner(name, readFileSync(keyFile, 'utf8'))
  const directory = new AgentDirectory(of)
  const readFile = readerOf(directory)
  const watched = new WatchedLog({
    path: join(folder, 'log'),
    cosigner: self,
    log: { readFile, wait: () => directory.afterCaches() },
    now: () => new Date(),
  })
  const tell = (words: string) => void process.stderr.write(`${words}\n`)
  const look = async () => {
    if (!watched.known) {
      const shown = await firstSeen(readFile, { key: values['log-key'] })
      if (!shown) throw new Error(`${of} has no transparency log`)
      watched.begin(shown)
    }
    for (const change of await watched.look()) tell(`the transparency log: ${change}`)
  }
  await look()
  if (once) {
    process.stdout.write(watched.cosigned()?.line ?? '')
    return
  }
  const server = witnessServer(watched, self.key)
  await listen(server, host, port)
  process.stdout.write(`${self.key}@http://${host}:${(server.address() as { port: number }).port}\n`)
  const stopping = new AbortController()
  untilStopSignal().then(() => stopping.abort())
  let said: string | undefined
  while (!stopping.signal.aborted) {
    await delay(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    if (stopping.signal.aborted) break
    const problem = await look().then(
      () => undefined,
      (error: Error) => error.message,
    )
    if (problem !== said) tell(problem ?? 'the log goes on from what is known again')
    said = problem
  }
  server.close()
})

function numberOf(name: string, given: string, most: number): number {
  const number = Number(given)
  if (/^\d+$/.test(given) && number <= most) return number
  throw new UsageError(`--${name} must be a number from 0 to ${most} (see --help)`)
}
