import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { openChains, readChains, settingsOf } from '../../config/chains.file.ts'
import { busiestChain, chainOf, settlementChains } from '../../config/chains.ts'
import { createPool, inTransaction } from '../../db/pool.ts'
import { type DevChain, startDevChain } from '../../devnet/chain/chain.ts'
import { withLock } from '../../ops/lock.mjs'
import { untilStopSignal } from '../../ops/stop.ts'
import { prepareTraffic, trafficAddresses } from '../../test/chain/traffic.ts'
import { chainSettings } from '../../test/support/chain/settings.ts'
import { checkRows } from '../check-rows.ts'
import { claimFailures, claimMeanwhile, watchLocks } from './background.ts'
import { differenceFromClean, lostClaims, wrongSums } from './checks.ts'
import type { Curve } from './curve.ts'
import { disturb } from './faults.ts'
import { growHeads, headAddresses, prepareHeads } from './heads.ts'
import { type Loaded, loadHistory, startPortal } from './history-load.ts'
import { type Installation, openInstallation, patient, removeDatabase } from './installation.ts'
import { type Line, type Lines, startLines } from './lines.ts'
import { watchMemory } from './memory.ts'
import { operate, reserveEdge } from './operations.ts'
import { type People, settlePeople } from './people.ts'
import { command, endProcesses, type Running, runApi, runJobs, runProcessors, writeChainsFile } from './processes.ts'
import { readMeanwhile, readOnce } from './reads.ts'
import { type Findings, report } from './report.ts'
import { headChains, type Shape, shapeOf } from './shape.ts'
import { say, untilAll } from './show.ts'

/** Record from which an interrupted rehearsal resumes. */
interface Begun {
  readonly rows: number
  /** Curve of the load so far. */
  readonly curve: Curve
  readonly loaded?: Loaded
  /** Number of starts of the part after the load. */
  readonly attempts: number
}

/** From this many rows on, the loaded database is copied, so that an interrupted rehearsal need not load it again. */
const keptRows = 1_000_000
/** Blocks below the head that may be replaced. */
const finality = 6

/**
 * Loads a generated history of so many settlements and plays what happens to an installation through with the real
 * commands: heads with reorgs, reads, claims, operations, faults, a restore. Prints a table and one JSON object; throws
 * when a row differs from what it must be, an answer was a 5xx, readers waited a second for a lock, or an acknowledged
 * claim is gone, or when another process rehearses in the folder. The same call resumes an interrupted load, and starts
 * the part after it again, from a copy.
 */
export async function benchRehearsal({ rows, folder }: { rows: number; folder: string }): Promise<void> {
  const onWait = () => {
    throw new Error(
      `a rehearsal is already running in ${folder}; stop that one first, or choose another folder with --in`,
    )
  }
  await withLock({ name: `rehearsal ${folder}`, waitMs: 0, onWait }, () => rehearse(rows, folder))
}

async function rehearse(rows: number, folder: string): Promise<void> {
  const shape = shapeOf(rows)
  const record = await resume(folder, rows)
  say(`${shape.rows} settlements, ${shape.accounts} accounts, ${shape.agents} agents, in ${folder}`)
  const opened: (() => unknown)[] = []
  const own = <T>(one: T, close: (one: T) => unknown): T => {
    opened.push(() => close(one))
    return one
  }
  const closeAll = async () => {
    for (let close = opened.pop(); close; close = opened.pop()) await close()
  }
  const play = async () => {
    const lines = own(await startLines(), (one) => one.stop())
    const installation = own(await openInstallation(folder, lines), (one) => one.stop())
    const portal = own(await startPortal(shape, folder), (one) => one.stop())
    const stage = { folder, installation, lines, shape, portalUrl: portal.url, own }
    const loaded = record.loaded ?? (await load(stage, record))
    if (!record.loaded && loaded.rows >= keptRows) {
      await command('db/backup/main.ts', ['--out', join(folder, 'loaded')], {}, { cwd: installation.home })
    }
    await writeRecord(folder, { ...record, loaded, attempts: record.attempts + 1 })
    say(`${loaded.rows} rows are loaded, ${loaded.rowsPerSecond} a second, ${loaded.copyRowsPerSecond} by COPY alone`)
    const findings = await playThrough(stage, record.attempts)
    const wrong = report({ ...findings, loaded, rows })
    if (wrong.length > 0) throw new Error(wrong.join('\n'))
  }
  const signal = await Promise.race([untilStopSignal(), play()]).catch(async (error) => {
    await closeAll()
    throw error
  })
  if (signal) {
    say(`${signal}: ending what runs; run the same command again to continue`)
    // Work under way fails now, one thing after the other; those errors do not matter.
    while (opened.length > 0) await closeAll().catch(() => {})
    process.exit(signal === 'SIGINT' ? 130 : 143)
  }
  await closeAll()
  await removeAll(folder)
}

interface Stage {
  readonly folder: string
  readonly installation: Installation
  readonly lines: Lines
  readonly shape: Shape
  readonly portalUrl: string
  readonly own: <T>(one: T, close: (one: T) => unknown) => T
}

async function load(stage: Stage, record: Begun): Promise<Loaded> {
  const { folder, installation, shape } = stage
  const keep = (curve: Curve) => writeRecord(folder, { ...record, curve })
  const env = await loadEnv(stage)
  return loadHistory({ folder, pool: installation.pool, shape, env, curve: record.curve, keep })
}

/** Environment of commands: the server directly; a backfill has the Portal and no node. */
async function loadEnv({ folder, installation, shape, portalUrl }: Stage): Promise<NodeJS.ProcessEnv> {
  const { registry, reputation, tokens } = chainOf(busiestChain)
  const from = { fromBlock: shape.headBlock }
  const row = {
    rpc: null,
    portal: portalUrl,
    registry: { ...registry, ...from },
    reputation: { ...reputation, ...from },
    tokens: tokens.map((token) => ({ ...token, fromBlock: shape.payments.firstBlock })),
  }
  const chainsFile = await writeChainsFile(join(folder, 'load.json'), { [busiestChain]: row })
  return { DATABASE_URL: installation.databaseUrl, CHAINS_FILE: chainsFile }
}

/** Chains, people, TCP links and processes around the database. */
interface World {
  readonly chains: readonly DevChain[]
  readonly people: People
  readonly lines: { readonly node: Line; readonly hub: Line }
  readonly jobs: Running
  readonly api: Awaited<ReturnType<typeof runApi>>
}

async function playThrough(stage: Stage, attempt: number): Promise<Omit<Findings, 'loaded' | 'rows'>> {
  const { installation, own } = stage
  const { pool } = installation
  const world = await openWorld(stage, attempt)
  const { chains, people, jobs, api } = world
  const pids = () =>
    new Map([
      ...jobs.pids,
      ...api.pids,
      ...chains.map(({ name, pid }) => [`node of ${name}`, pid] as const),
      ['lines', stage.lines.pid] as const,
    ])
  const memory = own(watchMemory({ pids, server: () => installation.pid }), (one) => one.stop())
  const settled = await untilSettled(stage, people)
  const live = await playLive(stage, world)
  const cold = await readCold(stage, world)
  // An hour's figures are told even when the check behind them cannot be made.
  const differences = await compare(stage, world).catch((error: Error) => [`not compared: ${error.message}`])
  await memory.stop()
  const lost = await lostClaims(pool, live.claimed.acknowledged)
  const restoreSeconds = await restore(stage)
  return { ...settled, ...live, cold, lost, restoreSeconds, differences }
}

async function openWorld({ folder, installation, lines, shape, own }: Stage, attempt: number): Promise<World> {
  say('starting the chains')
  const funded = [...trafficAddresses, ...headAddresses]
  const start = async (name: (typeof headChains)[number]) => {
    const place = name === busiestChain ? { firstBlock: shape.headBlock } : {}
    const chain = await startDevChain(name, { ...place, genesisTime: shape.headTime, funded })
    own(chain, (one) => one.stop())
    await prepareTraffic(chain)
    await prepareHeads(chain)
    return chain
  }
  const chains = await Promise.all(headChains.map(start))
  const registry = chains.find(({ name }) => name === busiestChain) as DevChain
  const social = chains.find(({ addresses }) => addresses.idRegistry) as DevChain
  const people = await settlePeople(shape, { registry, social, attempt })
  own(people.hub, (hub) => hub.stop())
  const lineTo = (url: string) => lines.open(Number(new URL(url).port))
  const node = await lineTo(registry.rpc)
  const hub = await lineTo(people.hub.url)
  const paidFrom = shape.payments.firstBlock
  const rpc = `http://127.0.0.1:${node.port}`
  const chainsFile = await writeChainsFile(join(folder, 'chains.json'), rowsOf(chains, shape, { paidFrom, rpc }))
  const settings = readChains({ env: {}, file: openChains({ CHAINS_FILE: chainsFile }) })
  await reserveEdge({ installation, shape }, settingsOf(settings, busiestChain))
  const hubUrl = `http://127.0.0.1:${hub.port}`
  const jobs = own(await runJobs(folder, { databaseUrl: installation.line.url, chainsFile, hubUrl }), (one) =>
    one.stop(),
  )
  return {
    chains,
    people,
    lines: { node, hub },
    jobs,
    api: await openApi({ folder, installation, shape, own }, { chains, people }),
  }
}

/** An API whose lines are good: it does not pass through this process, whose own work would be in its times. */
async function openApi(
  { folder, installation, shape, own }: Omit<Stage, 'lines' | 'portalUrl'>,
  { chains, people }: Pick<World, 'chains' | 'people'>,
) {
  const paidFrom = shape.payments.firstBlock
  const chainsFile = await writeChainsFile(join(folder, 'api.json'), rowsOf(chains, shape, { paidFrom }))
  const sources = { databaseUrl: installation.databaseUrl, chainsFile, hubUrl: people.hub.url }
  return own(await runApi(folder, sources), (one) => one.stop())
}

async function playLive(stage: Stage, { chains, people, lines, jobs, api }: World) {
  const { installation, shape } = stage
  const { pool } = installation
  const env = await loadEnv(stage)
  const ends = performance.now() + shape.liveSeconds * 1_000
  const heads = growHeads(chains, { pool, shape })
  const reads = await readMeanwhile({ url: api.url, agents: shape.agents, ...shape.reads })
  const claims = claimMeanwhile(api.url, people)
  const operationLocks = watchLocks(pool)
  const operations = await operate({ ...stage, env }, heads.during)
  heads.during('nothing else')
  await delay(Math.max(0, ends - performance.now()))
  const lockWait = await operationLocks.stop()
  const faultLocks = watchLocks(pool)
  const faults = await disturb({ installation, jobs, heads, lines })
  const faultLockWait = await faultLocks.stop()
  const warm = await reads.stop()
  const { settlementsPerSecond } = heads
  heads.during('Postgres ended')
  const claimed = await claims.stop()
  const failures = await claimFailures(api.logOf('api'))
  await api.stop()
  const crashed = await installation.crash()
  say(`Postgres ended at once and answers after ${crashed.toFixed(1)} s`)
  faults['Postgres ended'] = crashed
  await heads.untilIndexed('heads indexed')
  await heads.stop()
  const { delays, reorgs } = heads
  const judged = { claimed, claimFailures: failures, lockWait, faultLockWait }
  return { operations, faults, warm, ...judged, delays, reorgs, settlementsPerSecond }
}

/** Measures reads without any cache, neither the API's nor the server's nor the page cache. */
async function readCold(stage: Stage, world: World) {
  const { installation, shape } = stage
  await installation.forgetFiles()
  const { url } = await openApi(stage, world)
  say('reading cold')
  return readOnce({ url, agents: shape.agents, rounds: shape.coldRounds })
}

/** Differences of the rows above the load from clean indexes. Throws when a loaded row differs. */
async function compare(
  { folder, installation, shape, own }: Stage,
  { chains, people, jobs }: World,
): Promise<string[]> {
  const { pool } = installation
  say('comparing with clean indexes')
  const databaseUrl = await installation.another('clean')
  const chainsFile = await writeChainsFile(
    join(folder, 'clean.json'),
    rowsOf(chains, shape, { paidFrom: shape.headBlock }),
  )
  const sources = { databaseUrl, chainsFile, hubUrl: people.hub.url }
  const oracle = own(await runProcessors(folder, sources), (one) => one.stop())
  const clean = own(createPool({ databaseUrl, name: 'rehearsal', max: 2, ...patient }), (one) => one.end())
  const differences: string[] = []
  for (const chain of chains) {
    const fromBlock = chain.name === busiestChain ? shape.headBlock : 0
    differences.push(await differenceFromClean(chain, { pool, clean, fromBlock }))
  }
  await oracle.stop()
  await untilSummedUp(pool)
  await jobs.stop()
  say('comparing every loaded row')
  await inTransaction(pool, (client) => checkRows(client, shape.payments))
  return differences.filter((text) => text !== '')
}

/** Content of CHAINS_FILE; `paidFrom`: first block of the tokens whose history is loaded; `rpc`: of the busiest chain, where it is not its node's own. */
function rowsOf(
  chains: readonly DevChain[],
  { headBlock }: Shape,
  { paidFrom, rpc }: { paidFrom: number; rpc?: string },
) {
  return Object.assign(
    {},
    ...chains.map((chain) => {
      if (chain.name !== busiestChain) return chainSettings(chain, { finality })
      const options = { finality, fromBlock: headBlock, ...(rpc ? { rpc } : {}) }
      const { [chain.name]: row } = chainSettings(chain, options)
      const tokens = chainOf(chain.name).tokens.map((token) => ({ ...token, fromBlock: paidFrom }))
      return { [chain.name]: { ...row, tokens } }
    }),
  )
}

/** Seconds from nothing until all agents are found, and until all final settlements are rolled up. */
async function untilSettled({ installation: { pool } }: Stage, { agents }: People) {
  const joinSeconds = await untilAll('agents found', async () => {
    const { rows } = await pool.query<{ found: number }>(
      `select count(*)::int as found from agent where fid = any($1) and agent_status = 'active'`,
      [agents],
    )
    return { done: rows[0]?.found as number, of: agents.length }
  })
  await untilAll('final blocks that are not summed up, negated', async () => {
    const { rows } = await pool.query<{ chains: number; left: number }>(
      `select count(*)::int as chains, coalesce(sum(greatest(0, s.finalized_block + 1 - r.next_block)), 0)::int as left
         from chain_state s join settlement_rollup r using (chain)`,
    )
    const { chains, left } = rows[0] as { chains: number; left: number }
    return { done: chains - settlementChains().length - left, of: 0 }
  })
  const rollupSeconds = await untilSummedUp(pool)
  return { joinSeconds, rollupSeconds }
}

const untilSummedUp = (pool: pg.Pool) =>
  untilAll('sums that are not those of the rows, negated', async () => ({ done: -(await wrongSums(pool)), of: 0 }))

/**
 * Where an interrupted rehearsal goes on: in its load, or behind it, with a copy of what was loaded. What was loaded in
 * no time is loaded again.
 */
async function resume(folder: string, rows: number): Promise<Begun> {
  const record = await readRecord(folder, rows)
  if (record && record.attempts === 0) return record
  const copy = join(folder, 'loaded')
  const home = join(folder, 'installation')
  await endProcesses(folder)
  if (record && existsSync(copy)) {
    say('bringing back what was loaded')
    await removeDatabase(home)
    await command('processors/restore/main.ts', ['--from', copy], {}, { cwd: home })
    return record
  }
  await removeAll(folder)
  await mkdir(folder, { recursive: true })
  const fresh = { rows, curve: [], attempts: 0 }
  await writeRecord(folder, fresh)
  return fresh
}

async function removeAll(folder: string): Promise<void> {
  for (const home of ['installation', 'restored']) await removeDatabase(join(folder, home))
  await rm(folder, { recursive: true, force: true })
}

/** Restores the backup next to the installation and checks it; returns the seconds. Throws with what is wrong. */
async function restore({ folder }: Stage): Promise<number> {
  const cwd = join(folder, 'restored')
  await removeDatabase(cwd)
  const heard = (text: string) => process.stdout.write(text)
  const { seconds } = await command(
    'processors/restore/main.ts',
    ['--from', join(folder, 'backup')],
    {},
    { cwd, heard },
  )
  return seconds
}

/** Record of a rehearsal in the folder; undefined: none was started there. */
async function readRecord(folder: string, rows: number): Promise<Begun | undefined> {
  const text = await readFile(join(folder, 'record.json'), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const record: Begun = JSON.parse(text)
  if (record.rows !== rows) throw new Error(`${folder} holds a rehearsal of ${record.rows} rows; remove it first`)
  return record
}

async function writeRecord(folder: string, record: Begun): Promise<void> {
  await writeFile(join(folder, 'record.json'), JSON.stringify(record))
}
