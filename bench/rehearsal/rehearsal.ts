import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { chainOf } from '../../chains.config.ts'
import { openChainsFile, readChains, settingsOf } from '../../chains.file.ts'
import { createPool, inTransaction } from '../../db/pool.ts'
import { type DevChain, startDevChain } from '../../devnet/chain/chain.ts'
import { endLeftovers } from '../../stack/processes.ts'
import { prepareTraffic, trafficAddresses } from '../../test/chain/traffic.ts'
import { chainSettings } from '../../test/support/chain/settings.ts'
import { busiestChain } from '../busiest.ts'
import { checkRows } from '../check-rows.ts'
import { claimBeside, readBeside, watchLocks } from './beside.ts'
import { differenceFromClean, lostClaims, wrongSums } from './checks.ts'
import { growHeads } from './heads.ts'
import {
  command,
  type Installation,
  openInstallation,
  type Running,
  removeDatabase,
  runProcesses,
  runProcessors,
  writeChainsFile,
} from './installation.ts'
import { type Loaded, loadHistory, startPortal } from './load.ts'
import { type Durations, disturb, operate, reserveEdge } from './operations.ts'
import { type People, settlePeople } from './people.ts'
import { type Findings, report } from './report.ts'
import { headChains, type Shape, shapeOf } from './shape.ts'
import { say, untilAll } from './show.ts'

/** What an interrupted rehearsal goes on with. */
interface Begun {
  readonly rows: number
  readonly loaded?: Loaded
  /** Times that what comes after the load was begun. */
  readonly attempts: number
}

/** So many rows are worth a copy, so that an interrupted rehearsal need not load them again. */
const keptRows = 1_000_000
/** Blocks below the head that may be replaced. */
const finality = 6

/**
 * Loads a generated history of so many settlements and plays what happens to an installation through with the real
 * commands: heads with reorgs, reads, claims, operations, faults, a restore. Prints a table and one JSON object; throws
 * when a row differs from what it must be, an answer was a 5xx, readers waited a second for a lock, or an acknowledged
 * claim is gone. The same call goes on with an interrupted load, and begins anew what comes after it, from a copy.
 */
export async function benchRehearsal({ rows, folder }: { rows: number; folder: string }): Promise<void> {
  const shape = shapeOf(rows)
  const record = await resume(folder, rows)
  say(`${shape.rows} settlements, ${shape.accounts} accounts, ${shape.agents} agents, in ${folder}`)
  const opened: (() => unknown)[] = []
  const own = <T>(one: T, close: (one: T) => unknown): T => {
    opened.push(() => close(one))
    return one
  }
  try {
    const installation = own(await openInstallation(folder), (one) => one.stop())
    const portal = own(await startPortal(shape, folder), (one) => one.stop())
    const stage = { folder, installation, shape, portalUrl: portal.url, own }
    const loaded = record.loaded ?? (await loadHistory(installation.pool, shape, await loadEnv(stage)))
    if (!record.loaded && loaded.rows >= keptRows) {
      await command('db/backup/main.ts', ['--out', join(folder, 'loaded')], {}, { cwd: installation.home })
    }
    await writeRecord(folder, { rows, loaded, attempts: record.attempts + 1 })
    say(`${loaded.rows} rows are loaded, ${loaded.rowsPerSecond} a second`)
    const findings = await playThrough(stage, record.attempts)
    const wrong = report({ ...findings, loaded, rows })
    if (wrong.length > 0) throw new Error(wrong.join('\n'))
  } finally {
    for (const close of opened.toReversed()) await close()
  }
  await removeAll(folder)
}

interface Stage {
  readonly folder: string
  readonly installation: Installation
  readonly shape: Shape
  readonly portalUrl: string
  readonly own: <T>(one: T, close: (one: T) => unknown) => T
}

/** Commands talk to the server itself; a backfill knows of no node, and of the Portal. */
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

async function playThrough(stage: Stage, attempt: number): Promise<Omit<Findings, 'loaded' | 'rows'>> {
  const { folder, installation, shape, own } = stage
  const { pool } = installation
  say('starting the chains')
  const start = async (name: (typeof headChains)[number]) => {
    const place = name === busiestChain ? { firstBlock: shape.headBlock } : {}
    const chain = await startDevChain(name, { ...place, genesisTime: shape.headTime, funded: trafficAddresses })
    own(chain, (one) => one.stop())
    await prepareTraffic(chain)
    return chain
  }
  const chains = await Promise.all(headChains.map(start))
  const [registry, social] = chains as [DevChain, DevChain]
  const people = await settlePeople(shape, { registry, social, attempt })
  own(people.hub, (hub) => hub.stop())
  const chainsFile = await writeChainsFile(
    join(folder, 'chains.json'),
    rowsOf(chains, shape, shape.payments.firstBlock),
  )
  const settings = readChains({ env: {}, file: openChainsFile(chainsFile) })
  await reserveEdge(stage, settingsOf(settings, busiestChain))

  const hubUrl = people.hub.url
  const running = await runProcesses(folder, { chainsFile, installation, hubUrl })
  own(running, ({ stack }) => stack.stop())
  const settled = await untilSettled(stage, people)
  const live = await playLive(stage, { running, chains, people })

  say('comparing with clean indexes')
  const cleanUrl = await installation.another('clean')
  const cleanFile = await writeChainsFile(join(folder, 'clean.json'), rowsOf(chains, shape, shape.headBlock))
  const stack = own(await runProcessors(folder, cleanFile, cleanUrl), (one) => one.stop())
  const clean = own(createPool({ databaseUrl: cleanUrl, name: 'rehearsal', max: 2 }), (one) => one.end())
  const differences: string[] = []
  for (const chain of chains) {
    differences.push(
      await differenceFromClean(chain, { pool, clean, fromBlock: chain === registry ? shape.headBlock : 0 }),
    )
  }
  await stack.stop()
  await untilSummedUp(pool)
  await running.stack.stop()
  say('comparing every loaded row')
  await inTransaction(pool, (client) => checkRows(client, shape.payments))
  const lost = await lostClaims(pool, live.acknowledged)
  const restoreSeconds = await restore(stage)
  return { ...settled, ...live, lost, restoreSeconds, differences: differences.filter((text) => text !== '') }
}

/** Content of CHAINS_FILE; `paidFrom`: first block of the tokens whose history is loaded. */
function rowsOf(chains: readonly DevChain[], { headBlock }: Shape, paidFrom: number): object {
  return Object.assign(
    {},
    ...chains.map((chain) => {
      if (chain.name !== busiestChain) return chainSettings(chain, { finality })
      const { [chain.name]: row } = chainSettings(chain, { finality, fromBlock: headBlock })
      const tokens = chainOf(chain.name).tokens.map((token) => ({ ...token, fromBlock: paidFrom }))
      return { [chain.name]: { ...row, tokens } }
    }),
  )
}

/** Seconds until all agents are found, and until all final settlements are summed up, from nothing. */
async function untilSettled({ installation: { pool } }: Stage, { agents }: People) {
  const joinSeconds = await untilAll('agents found', async () => {
    const { rows } = await pool.query<{ found: number }>(
      `select count(*)::int as found from agent where fid = any($1) and agent_status = 'active'`,
      [agents],
    )
    return { done: rows[0]?.found as number, of: agents.length }
  })
  await untilAll('chains summed up to their final blocks', async () => {
    const { rows } = await pool.query<{ done: number }>(
      `select count(*)::int as done from chain_state s join settlement_rollup r using (chain)
        where r.next_block > s.finalized_block`,
    )
    return { done: rows[0]?.done as number, of: headChains.length }
  })
  const rollupSeconds = await untilSummedUp(pool)
  return { joinSeconds, rollupSeconds }
}

const untilSummedUp = (pool: pg.Pool) =>
  untilAll('sums that are not those of the rows, negated', async () => ({ done: -(await wrongSums(pool)), of: 0 }))

async function playLive(
  stage: Stage,
  { running, chains, people }: { running: Running; chains: readonly DevChain[]; people: People },
) {
  const { installation } = stage
  const env = await loadEnv(stage)
  const heads = growHeads(chains, installation.pool)
  const reads = readBeside(running.url, people)
  const claims = claimBeside(running.url, people)
  const locks = watchLocks(installation.pool)
  const operations: Durations = await operate({ ...stage, env })
  const faults = await disturb(installation, running)
  const answered = await reads.stop()
  const acknowledged = await claims.stop()
  const { longest } = await locks.stop()
  const crashed = await installation.crash()
  say(`Postgres ended at once and answers after ${crashed.toFixed(1)} s`)
  faults['Postgres ended'] = crashed
  await heads.stop()
  const { delays, reorgs } = heads
  return { operations, faults, answered, acknowledged, longestLockMs: longest, delays, reorgs }
}

/**
 * Where an interrupted rehearsal goes on: in its load, or behind it, with a copy of what was loaded. What was loaded in
 * no time is loaded again.
 */
async function resume(folder: string, rows: number): Promise<Begun> {
  const record = await readRecord(folder, rows)
  if (record && record.attempts === 0) return record
  const copy = join(folder, 'loaded')
  const home = join(folder, 'installation')
  await endLeftovers(join(folder, 'processes.json'))
  if (record && existsSync(copy)) {
    say('bringing back what was loaded')
    await removeDatabase(home)
    await command('processors/restore/main.ts', ['--from', copy], {}, { cwd: home })
    return record
  }
  await removeAll(folder)
  await mkdir(folder, { recursive: true })
  const fresh = { rows, attempts: 0 }
  await writeRecord(folder, fresh)
  return fresh
}

async function removeAll(folder: string): Promise<void> {
  for (const home of ['installation', 'restored']) await removeDatabase(join(folder, home))
  await rm(folder, { recursive: true, force: true })
}

/** Brings the backup back beside the installation, and has it checked; seconds. Throws with what is wrong. */
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

/** Undefined: none was begun there. */
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
