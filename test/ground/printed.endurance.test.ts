import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Devnet } from '../support/devnet.ts'
import { endOf } from '../support/mains.ts'
import { listFiles, root } from '../support/source-files.ts'
import { printedCommands, walked } from './printed-commands.ts'
import { shell } from './toy-project.ts'

/** Timeout in milliseconds of all commands together: two local worlds start among them. */
const walkMs = 1_500_000

let clone: string
let world: ChildProcess | undefined
/** Address of the last world's API. */
let api = ''
/** How the first world's database is connected to, by its owner and by who reads it; undefined: none has started. */
let lasting: { readonly database: string; readonly reader: string | undefined } | undefined

beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), 'agent-directory-clone-'))
  chmodSync(clone, 0o755) // as root the database runs as another user, who has to reach its data
  for (const path of listFiles()) {
    mkdirSync(dirname(join(clone, path)), { recursive: true })
    cpSync(join(root, path), join(clone, path))
  }
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules')) // as installed; bootstrap.endurance.test.ts installs
  writeFileSync(join(clone, '.curlrc'), 'fail\nsilent\n') // an answer with an error is a command that does not work
  // As npm puts it on the path, where the client is installed; the README builds what it leads to.
  const client = join(clone, 'client/dist/client/main.js')
  writeFileSync(join(clone, 'agent-directory'), `#!/bin/sh\nexec node ${client} "$@"\n`, { mode: 0o755 })
})
afterAll(async () => {
  await endWorld()
  rmSync(clone, { recursive: true, force: true })
})

test(
  'the commands of README and docs work as printed, in their order, in a clone',
  async () => {
    let file = ''
    let loading = ''
    let hasHistory = false
    let isBuilt = false
    const inOrder = printedCommands.filter(({ command }) => walked.includes(command))
    expect(inOrder).not.toEqual([])
    for (const printed of inOrder) {
      const { command } = printed
      if (printed.file !== file) loading = '' // each document is begun in a terminal of its own
      file = printed.file
      if (command.startsWith('npm start')) {
        hasHistory = command.includes('--history')
        await startWorld(command)
        continue
      }
      if (command === 'npm run build') {
        if (isBuilt) continue // of the same sources
        isBuilt = true
      }
      if (command.startsWith('mv ')) await endWorld() // "Then end the world with Ctrl-C"
      const first = lastingCommands[command]
      if (first) {
        await endOnceSaid(start(`${loading}exec ${command}`), first)
        continue
      }
      const settings = /^set -a; \. \.\/(\S+);/.exec(command)?.[1]
      if (settings) {
        // A terminal keeps what it has read once; the world takes its file along when it ends.
        cpSync(join(clone, settings), join(clone, '.terminal.env'))
        loading = 'set -a; . ./.terminal.env; set +a\n'
      }
      if (command.startsWith('export ')) loading += `${ofWorld(command)}\n`
      const { code, stdout, stderr } = await run(`${settings ? '' : loading}${command}`)
      expect({ file, command, code, said: `${stdout}${stderr}`.slice(-2_000) }).toEqual({
        file,
        command,
        code: 0,
        said: expect.anything(),
      })
      // An installation fills in its settings; this one those of the local world.
      if (command === 'cp .env.example .env') {
        appendFileSync(join(clone, '.env'), readFileSync(join(clone, '.data/devnet.env')))
      }
      expect(stdout).toMatch((hasHistory ? answersOfHistory : answers)[command] ?? /(?:)/)
    }
  },
  walkMs,
)

/** What answers say, where an exit code says too little. */
const answers: Readonly<Record<string, RegExp>> = {
  'curl http://127.0.0.1:3000/api/discovery?claimed=claimed': /"fid":1001\b/,
  [walked.find((command) => command.includes('/subgraph/8453')) as string]: /"agents":\[\{"id":"8453:/,
  'curl http://127.0.0.1:3000/api/agent/1001/income': /"fid": ?1001\b/,
  'node_modules/.bin/node client/dist/client/main.js agent @genesis --api http://127.0.0.1:3000': /"fid": ?1001\b/,
  'node verify-proof.mjs --self-test': /^[1-9]\d* held, 0 failed, 0 without an answer, 0 not asked$/m,
  'agent-directory agents --chain base --claimed true --all --format csv': /^1001,genesis,/m,
  'agent-directory agent 1001': /"handle": ?"genesis"/,
  'agent-directory agent @genesis': /"fid": ?1001\b/,
  'agent-directory settlements --fid 1001 --limit 100': /"tx_hash"/,
  'npm run doctor -- "$(jq -r \'.agent_hosts.agents["1001"]\' .data/devnet.json)/.well-known/agent-card.json"':
    /^It is: a2a\nNothing is in the way$/m,
  'npm run claims -- export claims.ndjson': /^[1-9]\d* rows in claims\.ndjson$/m,
  'npm run backfill -- --all --plan': /^no chain has settlements before its processor begins$/m,
}

/** The same on a world whose chains have a history to load. */
const answersOfHistory: Readonly<Record<string, RegExp>> = {
  'npm run backfill -- --all --plan': /^base 0 to \d+, \d+ blocks from rpc: about [1-9].*\n(.*\n)*in total: /m,
  'npm run coverage': /^(?!(?:.*\n)* *missing:)[\s\S]*\S/,
  'npm run backup -- --out .data/backup': /a copy is in /,
  'env --unset DATABASE_URL npm run restore -- --from .data/backup':
    /^ok {5}base 0 to \d+ is as the backfill certified[\s\S]*everything of .* is there/m,
}

/** Commands that run until they are stopped, and what they say once they have done something. */
const lastingCommands: Readonly<Record<string, RegExp>> = {
  'npm run witness -- --of http://127.0.0.1:3000 --name witness.example/w1':
    /^witness\.example\/w1\+\S+@http:\/\/127\.0\.0\.1:3400$/m,
  'agent-directory mirror --file agents.json --follow': /^agents\.json: [1-9]\d* agents$/m,
}

const worldOf = () => JSON.parse(readFileSync(join(clone, '.data/devnet.json'), 'utf8')) as Devnet

async function startWorld(command: string) {
  await endWorld()
  world = start(`exec ${command}`)
  const said = await untilSaid(world, /^ready /m)
  api = /^ready (\S+)/m.exec(said)?.[1] ?? ''
  // What is set up to read the world reads the next one, too: the same port, the same passwords.
  const now = { database: worldOf().database_url, reader: /psql '(.+)'/.exec(said)?.[1] }
  expect(now).toEqual({ database: expect.any(String), reader: expect.any(String) })
  lasting ??= now
  expect(now).toEqual(lasting)
  // Whoever takes the printed key along follows the log of this world: no other log has begun behind the last world's.
  const logKey = /^ {2}log key +(\S+)$/m.exec(said)?.[1]
  expect(await (await fetch(`${api}/log/key`)).text()).toBe(`${logKey}\n`)
}

async function endWorld() {
  if (!world || world.exitCode !== null) return
  const ended = once(world, 'exit')
  world.kill('SIGINT')
  await ended
}

/** Runs lines in a shell, with the key that a claim waits for. */
async function run(lines: string) {
  const child = start(lines, 'pipe')
  const key = lines.includes('--private-key -')
    ? worldOf().agents.find(({ fid }) => fid === 1001)?.addresses[0]?.private_key
    : undefined
  child.stdin?.on('error', () => {}) // a command that reads nothing has ended before it is written to
  child.stdin?.end(key === undefined ? '' : `${key}\n`)
  return endOf(child)
}

/** Starts lines in a shell, in the clone. */
function start(lines: string, stdin: 'pipe' | 'ignore' = 'ignore') {
  return spawn('/bin/sh', ['-ec', ofWorld(lines)], {
    cwd: clone,
    env: { ...shell, CURL_HOME: clone, PATH: `${clone}${delimiter}${shell.PATH}` },
    stdio: [stdin, 'pipe', 'pipe'],
  })
}

/** Lines with the world's own port and folder of files, which are other ones than those that are printed. */
const ofWorld = (lines: string) =>
  lines.replaceAll('http://127.0.0.1:3000', api).replaceAll('/srv/exports', '.data/devnet.exports')

/** Waits until a process has said something, and goes on reading what it says; returns what it said until then. */
async function untilSaid(child: ChildProcess, pattern: RegExp) {
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (text: Buffer) => {
      said += text
    })
  }
  await expect.poll(() => child.exitCode !== null || pattern.test(said), { timeout: walkMs, interval: 200 }).toBe(true)
  expect(said).toMatch(pattern)
  return said
}

async function endOnceSaid(child: ChildProcess, pattern: RegExp) {
  const ended = once(child, 'exit')
  try {
    await untilSaid(child, pattern)
  } finally {
    child.kill('SIGINT')
  }
  await ended
}
