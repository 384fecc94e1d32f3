import { randomBytes } from 'node:crypto'
import { appendFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { ChainSettings } from '../config/chains.file.ts'
import { chains as chainTable, defaultChainNames } from '../config/chains.ts'
import { loadingLine, worldSettingsName } from '../db/local-world.ts'
import { createPool } from '../db/pool.ts'
import { describeMove, freePort } from '../ops/ports.ts'
import { reserveHistory } from '../processors/backfill/reservation.ts'
import { endLeftovers, ProcessFile } from '../stack/processes.ts'
import { createStack, type Stack } from '../stack/supervisor.ts'
import { exportTask, planTasks, readSettings, withoutSources } from '../stack/tasks.ts'
import { bothSettled, type Teardown, untilSignalled } from '../stack/teardown.ts'
import { makeLogKey } from '../transparency/log-key.ts'
import { createFreshDatabase, type FreshDatabase, readerLines, usualPostgresPort } from './database.ts'
import { describeWorld } from './description.ts'
import { firstProfile, untilExported, untilReady } from './ready.ts'
import { createReport } from './report.ts'
import { type RunningWorld, startWorld } from './running-world.ts'
import { startTraffic } from './traffic.ts'
import type { Deed } from './world/deeds.ts'
import { chainSettings } from './world/settings.ts'

const logKeyName = 'devnet.log-key.pem'
const blockSeconds = 2
/** How often the job reads the hub's events. */
const hubPollSeconds = 1
/** Pause between rounds of counting settlements and deriving edges, in seconds. */
const countsPauseSeconds = 5
/** Preferred ports; others when they are taken. */
const usualPorts = { api: 3000, graphql: 3001, hub: 3381, firstChain: 8545 }

interface DevnetOptions {
  /** Folder for data, logs and devnet.json; only one devnet at a time runs in it. */
  readonly folder: string
  readonly seed: string
  /** Whether chains have payments from before their registries, which are left to a backfill. */
  readonly history: boolean
  /** Environment of this process, from which that of every process is made, without the sources of real data. */
  readonly env: NodeJS.ProcessEnv
  /** Ends this process at once, on a second Ctrl-C. */
  readonly exit: () => never
}

/** Runs the whole directory on this machine, in a world of its own, until this process is told to stop. */
export async function runDevnet(options: DevnetOptions): Promise<void> {
  const { folder, exit } = options
  const report = createReport((line) => process.stdout.write(`${line}\n`))
  const processFile = join(folder, 'processes.json')
  const left = await endLeftovers(processFile)
  if (left.length > 0) report.say(`ended processes that an earlier run left behind: ${left.join(', ')}`)
  for (const name of ['devnet.json', worldSettingsName]) {
    rmSync(join(folder, name), { force: true })
  }

  report.say('a new world: nothing of an earlier start is in it; the password and, while free, the ports stay the same')
  const processes = new ProcessFile(processFile)
  const stack = createStack({ logFolder: join(folder, 'logs'), processes, say: report.say })
  const onStop = () => report.say('stopping; press Ctrl-C again to end everything at once')
  await untilSignalled((teardown) => start(options, stack, report, teardown), { onStop, exit })
  report.say('stopped')
}

async function start(
  { folder, seed, history, env: given }: DevnetOptions,
  stack: Stack,
  report: ReturnType<typeof createReport>,
  teardown: Teardown,
) {
  const [database, running] = await bothSettled(
    createFreshDatabase(folder, given.DATABASE_URL, teardown.endServer).then((made) => teardown.own(made)),
    startWorld({
      seed,
      history,
      hubPort: usualPorts.hub,
      firstChainPort: usualPorts.firstChain,
      agentHosts: true,
      upstreams: true,
    }).then((made) => teardown.own(made)),
  )
  report.stage('started', `${database.description}; ${defaultChainNames.length} chains; a hub of the social network`)

  const port = await freePort('127.0.0.1', Number(given.PORT) || usualPorts.api)
  const api = `http://127.0.0.1:${port}`
  const graphqlPort = await freePort('127.0.0.1', usualPorts.graphql)
  const graphql = `http://127.0.0.1:${graphqlPort}`
  const file = chainSettings(running.chains, running.historyEnds)
  const chainsFile = join(folder, 'devnet.chains.json')
  writeFileSync(chainsFile, `${JSON.stringify(file, null, 2)}\n`)
  const settings = settingsOf(running, database, { port, graphqlPort }, { folder, chainsFile })
  makeLogKey(settings.LOG_KEY_FILE) // before the settings are read: those of the API want a key that is there
  const env = { ...withoutSources(given), ...settings }
  const { chains } = readSettings(env, file)
  await leaveHistory(database.url, history ? chains : [])
  const tasks = await planTasks(defaultChainNames, env)
  const places: [what: string, usual: number, url: string][] = [
    ['the API', Number(given.PORT) || usualPorts.api, api],
    ['GraphQL', usualPorts.graphql, graphql],
    ...(given.DATABASE_URL ? [] : [['Postgres', usualPostgresPort, database.url] satisfies [string, number, string]]),
    ['the hub', usualPorts.hub, running.hub.url],
    ...defaultChainNames.map((name, index): [string, number, string] => {
      return [`the node of ${name}`, usualPorts.firstChain + index, running.chains[name].rpc]
    }),
  ]
  const moved = places.flatMap(([what, usual, url]) => describeMove(what, usual, Number(new URL(url).port)))
  if (moved.length + tasks.moved.length > 0) report.say(`  ports     taken: ${[...moved, ...tasks.moved].join('; ')}`)
  await teardown.own(stack)
  rmSync(settings.EXPORT_DIR, { recursive: true, force: true }) // an earlier world's
  for (const group of [tasks.processors, tasks.enrichment, tasks.api, tasks.graphql]) stack.start(group)

  await running.layPast({
    blockSeconds,
    onProgress: (done, total) => report.progress('history', done / total),
    signal: teardown.signal,
  })
  report.stage('history', `${running.world.past.length} transactions of forty days`)
  await untilReady({
    running,
    databaseUrl: database.url,
    api,
    graphql,
    signal: teardown.signal,
    onProgress: (share, { agents }) => report.progress('indexing', share, `${agents} agents found`),
  })
  report.stage('indexed', `logs of all processes: ${relative('.', join(folder, 'logs'))}`)
  stack.start([await exportTask(env)])
  await untilExported(settings.EXPORT_DIR, teardown.signal)
  report.stage('exported', `files of everything: ${api}/exports/manifest.json`)

  const trafficLog = join(folder, 'logs', 'traffic.log')
  writeFileSync(trafficLog, '')
  const onFailure = (deed: Deed, error: Error) => {
    appendFileSync(trafficLog, `${new Date().toISOString()} ${deed.chain} ${deed.kind}: ${error.message}\n`)
  }
  await teardown.own(startTraffic({ world: running.world, chains: running.chains, hub: running.hub.state, onFailure }))
  // Both have the password of the database's superuser.
  const whileRunning = async (name: string, content: string) => {
    const path = join(folder, name)
    writeFileSync(path, content, { mode: 0o600 })
    await teardown.own({ stop: async () => rmSync(path, { force: true }) })
    return pathFromHere(path)
  }
  const world = describeWorld(running, { api, graphql, databaseUrl: database.url })
  const description = await whileRunning('devnet.json', `${JSON.stringify(world, null, 2)}\n`)
  const settingsFile = await whileRunning(worldSettingsName, shellText({ ...settings, AGENT_DIRECTORY_URL: api }))

  report.say(`  an agent    ${firstProfile(running, api)}`)
  report.say(`  payments    ${firstProfile(running, api)}/settlements`)
  report.say(`  all agents  ${api}/api/discovery; as pages ${api}/`)
  report.say(`  GraphQL     ${graphql}/`)
  for (const [program, line] of await readerLines(database.url, folder)) report.say(`  ${program.padEnd(11)} ${line}`)
  report.say(`  the hub     ${running.hub.url}/control changes who verifies which address, and makes it fail`)
  report.say(
    `  their hosts agent_hosts in the file below, like explorer, identity and codehost; /control of each makes it fail`,
  )
  report.say(`  sellers     ${running.agentHosts!.faultySellers} lists what npm run doctor finds fault with`)
  // Not that of the key's file: where this one signed for an earlier world, its log goes on as the next.
  report.say(`  log key     ${(await (await fetch(`${api}/log/key`)).text()).trim()}`)
  report.say(`  keys, RPC   ${description}`)
  report.say(`  commands    ${loadingLine(settingsFile)} makes those of the README work on this world`)
  if (history) report.say('  history     left to npm run backfill -- --all; --plan says before what that reads')
  report.say(`ready ${api}`)
}

/** Leaves the blocks before the registries to a backfill, as processors do by themselves where these are many. */
async function leaveHistory(databaseUrl: string, chains: readonly ChainSettings[]) {
  const pool = createPool({ databaseUrl, name: 'devnet', max: 1 })
  try {
    for (const chain of chains) if (chain.tokens.length > 0) await reserveHistory(pool, chain, 1)
  } finally {
    await pool.end()
  }
}

/** Settings of every process of the stack, but for its METRICS_PORT. */
function settingsOf(
  { chains, hub, agentHosts, upstreams }: RunningWorld,
  { url }: FreshDatabase,
  { port, graphqlPort }: { port: number; graphqlPort: number },
  { folder, chainsFile }: { folder: string; chainsFile: string },
) {
  const address = `http://127.0.0.1:${port}`
  return {
    LOG_KEY_FILE: join(folder, logKeyName),
    EXPORT_DIR: join(folder, 'devnet.exports'), // another one may have the files of a real database
    ...Object.fromEntries(defaultChainNames.map((name) => [chainTable[name].rpcVariable, chains[name].rpc])),
    DATABASE_URL: url,
    CHAINS_FILE: chainsFile,
    CHAINS: '', // the chains are those of the file, whatever the shell names
    HUB_URL: hub.url,
    HUB_POLL_SECONDS: String(hubPollSeconds),
    COUNTS_PAUSE_SECONDS: String(countsPauseSeconds),
    WEBHOOK_SECRET: randomBytes(32).toString('hex'),
    FACILITATOR_HOSTS: 'off',
    ...(agentHosts && {
      IPFS_GATEWAYS: agentHosts.gateway.url,
      ARWEAVE_URL: agentHosts.gateway.url,
      EGRESS_ALLOW: agentHosts.names.join(','),
    }),
    ...(upstreams && {
      BLOCKSCOUT_URL: upstreams.explorer.url,
      OLI_URL: upstreams.explorer.url,
      WEB3BIO_URL: upstreams.identity.url,
      GITHUB_URL: upstreams.codehost.url,
    }),
    PORT: String(port),
    GRAPHQL_PORT: String(graphqlPort),
    BASE_URL: address,
    SITE_URL: address,
  }
}

/** Lines for a shell that set these variables. */
function shellText(settings: Readonly<Record<string, string>>): string {
  const quoted = (value: string) => `'${value.replaceAll("'", "'\\''")}'`
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${quoted(value)}\n`)
    .join('')
}

/** The path for a shell in the working directory: with a slash, as its `.` looks for other names on PATH. */
function pathFromHere(path: string): string {
  const near = relative('.', path)
  return near.startsWith('..') ? path : `./${near}`
}
