import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AgentDirectory } from '../../client/client.ts'
import { createPool } from '../../db/pool.ts'
import { startTcpLink, type TcpLink } from '../doubles/tcp-link.ts'
import { type DevnetProcess, devnetReadyMs, startDevnet } from '../support/devnet.ts'
import { runMain, startMain } from '../support/mains.ts'
import { testTimeoutMs, until } from '../support/until.ts'

// The client's mirror command against `npm start`, whose world keeps changing: through connections cut in the middle of
// a line, kills of the command, a kill of the API, and another world in place of the first.

/** Kills of each mirror; enough that rounds of the job, a minute apart, fall in between. */
const kills = 8

const folder = mkdtempSync(join(tmpdir(), 'mirror-test-'))
chmodSync(folder, 0o755) // as root the database runs as another user, who has to reach its data
const exportDir = join(folder, 'exports')
let devnet: DevnetProcess
let link: TcpLink
const mirrors: Mirror[] = []
let connections = 0
/** Port of the API; 0 until the first devnet is ready. */
let port = 0
beforeAll(async () => {
  await startWorld()
  link = await startTcpLink(() => port)
  // Two of three connections end in the middle of a line, of the log, of a stream or of a snapshot.
  link.cutEachAfter(() => (connections++ % 3 < 2 ? 1 + ((connections * 7_919) % 30_000) : Number.POSITIVE_INFINITY))
}, devnetReadyMs)
afterAll(async () => {
  for (const mirror of mirrors) await mirror.kill()
  await link?.close()
  await stopped(devnet.child)
  rmSync(folder, { recursive: true, force: true })
})

async function startWorld() {
  devnet = startDevnet(folder, { EXPORT_DIR: exportDir })
  await devnet.untilReady()
  port = Number(new URL(devnet.world().api).port)
}

async function stopped(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGINT')
  await once(child, 'exit')
}

interface Kept {
  readonly place: string
  readonly agents: Readonly<Record<string, Record<string, unknown>>>
}

/** The command in a process of its own, on a file of its own. */
class Mirror {
  readonly path: string
  #child!: ChildProcess
  #said = ''

  constructor(
    name: string,
    readonly beginning: 'log' | 'snapshot',
  ) {
    this.path = join(folder, name)
    mirrors.push(this)
    this.start()
  }

  start() {
    const args = ['mirror', '--file', this.path, '--follow', '--from', this.beginning]
    this.#child = startMain('client/main.ts', [...args, '--api', `http://127.0.0.1:${link.port}`])
    this.#child.stderr?.on('data', (text) => {
      this.#said = String(text)
    })
  }

  async kill() {
    if (this.hasEnded()) return
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }

  hasEnded = () => this.#child.exitCode !== null || this.#child.signalCode !== null

  /** What is in the mirror's file; null: nothing is written yet. Throws once the command has ended. */
  kept(): Kept | null {
    if (this.hasEnded()) throw new Error(`the mirror ended: ${this.#said}`)
    try {
      return JSON.parse(readFileSync(this.path, 'utf8'))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw error
    }
  }
}

/** Fields that are as of the moment a line is written (docs/rules.md): edges, feedback, times of sources, uptime. */
const ofTheMoment = /^(agent_edges|feedback|agent_specs|last_(?!seen_at).*_at)$/
const lasting = (profile: object) =>
  Object.fromEntries(Object.entries(profile).filter(([name]) => !ofTheMoment.test(name)))

/** Rows of `agent`, and the log's profiles by fid without fields of the moment, for comparing mirrors with. */
async function database() {
  const { api, database_url } = devnet.world()
  const pool = createPool({ databaseUrl: database_url, name: 'test', max: 1 })
  try {
    const { rows } = await pool.query<{ fid: number }>(
      `select fid, handle, display_name, bio, claimed, agent_status, settlements_30d, settlements_all
         from agent order by fid`,
    )
    const profiles: Record<string, object> = {}
    for await (const { fid, kind, profile } of new AgentDirectory(api).log() as AsyncIterable<Line>) {
      if (kind === 'upsert') profiles[fid] = lasting(profile)
    }
    return { rows, profiles }
  } finally {
    await pool.end()
  }
}
interface Line {
  readonly fid: number
  readonly kind: string
  readonly profile: object
}

/** Waits until every mirror equals the database; the world keeps changing, so it does not at every moment. */
async function inStep() {
  const compare = async () => {
    const kept = mirrors.map((mirror) => mirror.kept()?.agents ?? {})
    const { rows, profiles } = await database()
    return {
      had: kept.map((agents) => Object.fromEntries(Object.entries(agents).map(([fid, one]) => [fid, lasting(one)]))),
      rowsHad: kept.map((agents) => rows.map((row) => pick(agents[row.fid] ?? {}, Object.keys(row)))),
      rows,
      profiles,
    }
  }
  const isSame = ({ had, rowsHad, rows, profiles }: Awaited<ReturnType<typeof compare>>) =>
    rows.length > 0 && had.every((one) => isEqual(one, profiles)) && rowsHad.every((one) => isEqual(one, rows))
  const deadline = Date.now() + testTimeoutMs
  for (;;) {
    const found = await compare()
    if (isSame(found)) return
    if (Date.now() > deadline) {
      for (const one of found.had) expect(one).toEqual(found.profiles)
      for (const one of found.rowsHad) expect(one).toEqual(found.rows)
      throw new Error('there are no agents')
    }
    await delay(300)
  }
}

const pick = (row: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, row[name]]))
const isEqual = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

function apiPid(): number | undefined {
  const processes: { name: string; pid: number }[] = JSON.parse(readFileSync(join(folder, 'processes.json'), 'utf8'))
  return processes.find(({ name }) => name === 'api')?.pid
}

const placeOf = (mirror: Mirror) => mirror.kept()?.place ?? ''

test(
  'mirrors that follow the devnet are the database after every fault of lines, of themselves, of the API and of it',
  async () => {
    const fromLog = new Mirror('from-log.json', 'log')
    await inStep()

    const { database_url: databaseUrl, api } = devnet.world()
    const env = { DATABASE_URL: databaseUrl, EXPORT_DIR: exportDir, BASE_URL: api }
    expect(await runMain('export/main.ts', ['--served'], { env })).toMatchObject({ code: 0, stderr: '' })
    const fromSnapshot = new Mirror('from-snapshot.json', 'snapshot')
    await inStep()

    for (let n = 0; n < kills; n++) {
      const before = placeOf(fromLog)
      await until('the world has gone on', () => placeOf(fromLog) !== before)
      await delay((n * 379) % 1_500) // somewhere between two lines, or in a file
      for (const mirror of mirrors) {
        await mirror.kill()
        mirror.start()
      }
    }
    await inStep()

    const killed = apiPid()
    process.kill(-(killed as number), 'SIGKILL')
    await until('the API is started again', () => ![killed, undefined].includes(apiPid()))
    await until('the API is back', () =>
      fetch(`${api}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    await inStep()

    const epochs = new Set(mirrors.map((mirror) => placeOf(mirror).slice(0, 8)))
    await stopped(devnet.child)
    await startWorld()
    // The command gives up on a service that is down for minutes; its operator starts it again.
    for (const mirror of mirrors) if (mirror.hasEnded()) mirror.start()
    await inStep()
    expect(epochs.size).toBe(1)
    for (const mirror of [fromLog, fromSnapshot]) expect(epochs).not.toContain(placeOf(mirror).slice(0, 8))
  },
  6 * testTimeoutMs + devnetReadyMs,
)
