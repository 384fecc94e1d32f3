import { setTimeout as delay } from 'node:timers/promises'
import { keccak256, toBytes } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCrashingServer } from '../doubles/crashing-server.ts'
import { all, type LoadRun, startLoadRun } from '../processors/backfill/load-run.ts'
import type { TestDatabase } from '../support/database.ts'
import { descendantsOf, stillRunning } from '../support/processes.ts'
import { until } from '../support/until.ts'

const shards = 4
const args = [...all, '--workers', shards]
/** Kills of a process in each of the first two tests; `stops`: crashes of Postgres in the third. */
const kills = 10
const stops = 5
/** Latest kill, in milliseconds after a load has begun: about the length of a load. */
const latestMs = 700
/** Milliseconds; every kill is followed by the start of five processes. */
const timeout = 500_000

let run: LoadRun
beforeAll(async () => {
  run = await startLoadRun()
})
afterAll(() => run?.end())

test.each([
  { victim: 'command', find: (family: Family) => family[0] },
  { victim: 'worker', find: (family: Family, choose: Choose) => workersOf(family)[choose(shards)] },
])(
  `a backfill of ${shards} shards whose $victim is killed ${kills} times ends with the rows of the processor`,
  { timeout },
  async ({ victim, find }) => {
    const choose = chooserOf(victim)
    let database = await run.database()
    for (let killed = 0; killed < kills; ) {
      const { child, ended } = await run.start(database, args)
      await untilBegun(database, child)
      await delay(choose(latestMs))
      const family = descendantsOf(child.pid as number)
      const found = child.exitCode === null ? find(family, choose) : undefined
      const isKilled = found !== undefined && kill(found.pid)
      const { code, stderr } = await ended
      await until('its processes have ended with it', () => stillRunning(family).length === 0)
      if (code === 0) {
        expect(await run.difference(database)).toBe('')
        database = await run.database()
      } else {
        expect(isKilled, `it ended by itself: ${stderr}`).toBe(true)
        killed++
      }
    }
    await untilWhole(database)
  },
)

test(`a Postgres that ends at once ${stops} times under a backfill of ${shards} shards costs no row`, {
  timeout,
}, async () => {
  const choose = chooserOf('Postgres')
  const server = await startCrashingServer()
  try {
    for (let stop = 0; stop < stops; stop++) {
      const { child, ended } = await run.start(server.database, args)
      await untilBegun(server.database, child)
      await delay(choose(latestMs))
      await server.crash()
      await server.start()
      // Workers wait for the server and go on; a statement of the command itself may fail and end it with one line.
      const { code, stderr } = await ended
      expect(code === 0 ? stderr : stderr.trim()).toMatch(code === 0 ? /^$/ : /^[^\n]+$/)
    }
    await untilWhole(server.database)
  } finally {
    await server.remove()
  }
})

/** Sends SIGKILL; false when the process has already ended by itself. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}

type Family = ReturnType<typeof descendantsOf>
type Choose = (below: number) => number

function workersOf(family: Family) {
  return family.filter(({ command }) => command.includes('backfill/worker/main.ts'))
}

async function untilBegun({ pool }: TestDatabase, child: { exitCode: number | null }) {
  await until('the load has begun or ended', async () => {
    const { rows } = await pool.query(
      `select from pg_stat_activity
          where datname = current_database() and application_name ~ '^backfill base from'`,
    )
    return rows.length > 0 || child.exitCode !== null
  })
}

/** Asserts that a last run of the command completes the load, and that `--verify` finds its rows right. */
async function untilWhole(database: TestDatabase) {
  expect(await run.load(database, args)).toMatchObject({ code: 0, stderr: '' })
  expect(await run.difference(database)).toBe('')
  expect(await run.load(database, [...all, '--verify'])).toMatchObject({ code: 0 })
}

/** A deterministic random generator, seeded by a text; it returns integers from 0 below a bound. */
function chooserOf(text: string): Choose {
  let choices = 0
  return (below) => Number(BigInt(keccak256(toBytes(`${text} ${choices++}`))) % BigInt(below))
}
