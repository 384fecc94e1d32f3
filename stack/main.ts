import { existsSync, mkdirSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openChains } from '../config/chains.file.ts'
import { migrate } from '../db/migrate.ts'
import { openDatabase } from '../db/open.ts'
import { createPool } from '../db/pool.ts'
import { runCommand } from '../ops/cli.ts'
import { withLock } from '../ops/lock.mjs'
import { chooseAddress } from '../ops/ports.ts'
import { endLeftovers, ProcessFile } from './processes.ts'
import { unreached, withoutHistory } from './shortfalls.ts'
import { summarize } from './summary.ts'
import { createStack } from './supervisor.ts'
import { planTasks, readSettings, type Settings } from './tasks.ts'
import { type Teardown, untilSignalled } from './teardown.ts'

const usage = `
npm run start:mainnet

Runs the directory on this machine against the public networks: the processors of all enabled chains, the enrichment job,
the API and GraphQL. Migrates the database to the newest schema first. Ctrl-C stops everything. It neither loads the years
before the registries (npm run backfill -- --all) nor writes the files under /exports (npm run export -- --served).

Reads .env if there is one, and the variables of .env.example; variables set in the shell take precedence.
`
/** Folder of logs, `processes.json` and the embedded database; the same as npm start's, because both use those. */
const stateFolder = '.data'
const answerMs = 120_000
const pollMs = 500

await runCommand({ usage }, async () => {
  if (existsSync('.env')) process.loadEnvFile('.env')
  mkdirSync(stateFolder, { recursive: true })
  const folder = realpathSync(stateFolder)
  const onWait = () => {
    throw new Error(`it is already running in ${folder}, here or as npm start; stop that one first`)
  }
  await withLock({ name: `stack ${folder}`, waitMs: 0, onWait }, () => run(folder, process.env))
  process.exit()
})

async function run(folder: string, env: NodeJS.ProcessEnv) {
  const say = (line: string) => process.stdout.write(`${line}\n`)
  const settings = readSettings(env, openChains(env))
  const processFile = join(folder, 'processes.json')
  const left = await endLeftovers(processFile)
  if (left.length > 0) say(`ended processes that an earlier run left behind: ${left.join(', ')}`)
  const stack = createStack({ logFolder: join(folder, 'logs'), processes: new ProcessFile(processFile), say })

  const start = async (teardown: Teardown) => {
    const database = await openDatabase(env.DATABASE_URL, teardown.endServer)
    await teardown.own({ stop: () => database.close() })
    const ran = [...database.migrated, ...(await migrate(database.databaseUrl))]
    say(`  database  ${database.description}${ran.length > 0 ? '; migrated' : ''}`)
    for (const line of summarize(settings, env)) say(`  ${line}`)
    for (const line of await unreached(settings)) say(`  not reached: ${line}`)
    if (env.SETTLEMENT_SCOPE !== 'verified') await tellHistory(database.databaseUrl, settings, say)

    const enabled = settings.chains.filter((chain) => chain.enabled).map(({ name }) => name)
    // The processes run in the project's folder, wherever this one was started.
    const chainsFile = env.CHAINS_FILE ? { CHAINS_FILE: resolve(env.CHAINS_FILE) } : {}
    const { port, url: api } = await chooseAddress(settings.api)
    const its = { ...chainsFile, DATABASE_URL: database.databaseUrl, PORT: String(port) }
    const tasks = await planTasks(enabled, { ...env, ...its })
    if (tasks.moved.length > 0) say(`  ports     taken: ${tasks.moved.join('; ')}`)
    await teardown.own(stack)
    for (const group of [tasks.processors, tasks.enrichment, tasks.api, tasks.graphql]) stack.start(group)
    say(`  logs      ${join(stateFolder, 'logs')}`)
    await untilAnswering(`${api}/healthz`, teardown.signal)
    say(`ready ${api}`)
  }
  const onStop = () => say('stopping; press Ctrl-C again to end everything at once')
  await untilSignalled(start, { onStop, exit: () => process.exit(1) })
  say('stopped')
}

/** Says on which chains the settlements before the registries are missing, and what loads them. */
async function tellHistory(databaseUrl: string, { chains }: Settings, say: (line: string) => void) {
  const pool = createPool({ databaseUrl, name: 'start:mainnet', max: 1 })
  try {
    const missing = await withoutHistory(pool, chains)
    if (missing.length === 0) return
    say(`  missing: settlements before the registries of ${missing.join(', ')}, and with them`)
    say('           sums, payers and rankings of all time, until npm run backfill -- --all has run')
  } finally {
    await pool.end()
  }
}

async function untilAnswering(url: string, signal: AbortSignal) {
  for (const deadline = Date.now() + answerMs; Date.now() < deadline; await delay(pollMs, undefined, { signal })) {
    const response = await fetch(url).catch(() => undefined)
    if (response?.ok) return
  }
  throw new Error(`${url} does not answer after ${answerMs / 1000} s; see ${join(stateFolder, 'logs', 'api.log')}`)
}
