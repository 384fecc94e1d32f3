import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { busiestChain } from '../config/chains.ts'
import { migrate } from '../db/migrate.ts'
import type { EmbeddedPostgres } from '../postgres/embedded.ts'
import { checkRows } from './check-rows.ts'
import { copyAlone, writeRows } from './copy-floor.ts'
import { measure, type Run } from './measured-run.ts'
import { longPaymentChain, type PaymentChain } from './payment-chain.ts'
import { startTemporaryServer } from './temporary-server.ts'

interface BackfillBenchOptions {
  /** Chunks of the chain, of 2,000 blocks each: 101 hold a million settlements. */
  readonly chunks: number
  /** Rounds in which COPY alone and the command are measured once each; the best of each counts. */
  readonly rounds: number
}

const root = fileURLToPath(new URL('..', import.meta.url))
/** Folder where the local Portal caches its finished answers. */
const answersFolder = '.data/bench/portal-answers'
const workers = cpus().length
const settings = { shared_buffers: '2GB', max_wal_size: '8GB', checkpoint_timeout: '30min' }

/** Compares the backfill command with COPY alone and with a plain processor; prints a table and one JSON object. */
export async function benchBackfill({ chunks, rounds }: BackfillBenchOptions): Promise<void> {
  const chain = longPaymentChain(chunks)
  const { folder, postgres, remove } = await startTemporaryServer('backfill', { settings })
  const portal = fork(join(root, 'bench/portal/main.ts'), [String(chunks), join(root, answersFolder, String(chunks))])
  try {
    const [url] = (await once(portal, 'message')) as [string]
    const env = { PORTAL_URL: url }
    say(
      `preparing the answers for ${chain.settlements} settlements in ${chain.lastBlock - chain.firstBlock + 1} blocks`,
    )
    const rows = join(folder, 'rows')
    const bare = { ...env, CHAINS_FILE: join(folder, 'chains.json') }
    await writeFile(bare.CHAINS_FILE, JSON.stringify({ [busiestChain]: { paymentContracts: [] } }))
    const first = await inDatabase(postgres, 'prepare', async (databaseUrl, client) => {
      const run = await command(chain, { ...env, DATABASE_URL: databaseUrl })
      say(`every one of ${await checkRows(client, chain)} rows is what the chain holds`)
      await writeRows(client, 'settlement', rows)
      return run
    })
    say(`first run, while the answers were made: ${first.seconds.toFixed(1)} s`)
    await inDatabase(postgres, 'prepare_bare', (databaseUrl) => command(chain, { ...bare, DATABASE_URL: databaseUrl }))

    const floors: number[] = []
    const runs: Run[] = []
    const bareRuns: Run[] = []
    const load = (name: string, settings: NodeJS.ProcessEnv) =>
      inDatabase(postgres, name, async (databaseUrl, client) => {
        const run = await command(chain, { ...settings, DATABASE_URL: databaseUrl })
        await checkRows(client, chain)
        return run
      })
    for (let round = 1; round <= rounds; round++) {
      floors.push(await inDatabase(postgres, `floor_${round}`, (_, client) => copyAlone(client, 'settlement', rows)))
      runs.push(await load(`backfill_${round}`, env))
      bareRuns.push(await load(`bare_${round}`, bare))
      const seconds = [runs, bareRuns].map((all) => all.at(-1)?.seconds.toFixed(2))
      say(`round ${round}: COPY alone ${floors.at(-1)?.toFixed(2)} s, backfill ${seconds.join(' s, without kinds ')} s`)
    }
    // The first run makes the Portal's answers, the second is measured.
    let inserted: Run | undefined
    for (const round of ['prepare_insert', 'insert']) {
      inserted = await inDatabase(postgres, round, async (databaseUrl, client) => {
        const run = await storeInsert(chain, { ...env, DATABASE_URL: databaseUrl, RPC_BASE: '' })
        await checkRows(client, chain)
        return run
      })
      say(`store.insert: ${inserted.seconds.toFixed(1)} s`)
    }
    report(chain, Math.min(...floors), { best: runs.reduce(faster), bare: bareRuns.reduce(faster) }, inserted as Run)
  } finally {
    portal.disconnect()
    await remove()
  }
}

function faster(a: Run, b: Run): Run {
  return a.seconds < b.seconds ? a : b
}

async function inDatabase<T>(
  postgres: EmbeddedPostgres,
  name: string,
  work: (url: string, client: pg.Client) => Promise<T>,
) {
  const admin = await connect(postgres.databaseUrl)
  await admin.query(`create database ${name}`)
  const url = postgres.urlOf(name)
  await migrate(url)
  await admin.query('checkpoint') // so that no run has to write what the one before left
  const client = await connect(url)
  try {
    return await work(url, client)
  } finally {
    await client.end()
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  }
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  return client
}

function command({ firstBlock, lastBlock }: PaymentChain, env: NodeJS.ProcessEnv): Promise<Run> {
  const range = ['--chain', busiestChain, '--from', String(firstBlock), '--to', String(lastBlock)]
  return measure('npm', ['run', '--silent', 'backfill', '--', ...range, '--workers', String(workers)], env)
}

function storeInsert({ firstBlock, lastBlock }: PaymentChain, env: NodeJS.ProcessEnv): Promise<Run> {
  const entry = join(root, 'bench/store-insert/main.ts')
  return measure(process.execPath, ['--import', 'tsx', entry, String(firstBlock), String(lastBlock)], env)
}

/** Best runs of the command; `bare`: without payment contracts, whose logs would be requested and read as well. */
interface Loads {
  readonly best: Run
  readonly bare: Run
}

function report({ settlements }: PaymentChain, floor: number, { best, bare }: Loads, inserted: Run) {
  const line = (name: string, seconds: number) =>
    `${name.padEnd(34)} ${seconds.toFixed(2).padStart(8)} ${Math.round(settlements / seconds)
      .toString()
      .padStart(10)} ${(seconds / floor).toFixed(2).padStart(8)}`
  say('')
  say(`${settlements} settlements, ${workers} cores, ${Math.round(totalmem() / 1024 ** 3)} GB, ${workers} workers`)
  say(`${''.padEnd(34)} ${'seconds'.padStart(8)} ${'rows/s'.padStart(10)} ${'x floor'.padStart(8)}`)
  say(line('COPY alone, key and indexes there', floor))
  say(line('npm run backfill', best.seconds))
  say(line('the same, settlements alone', bare.seconds))
  say(line('EvmBatchProcessor + store.insert', inserted.seconds))
  say(`peak memory of the backfill: ${Math.round(best.peakBytes / 1024 ** 2)} MB`)
  say(
    JSON.stringify({
      benchmark: 'backfill',
      settlements,
      cores: workers,
      workers,
      copy_floor_seconds: round(floor),
      wall_seconds: round(best.seconds),
      store_insert_seconds: round(inserted.seconds),
      wall_over_settlements_alone: round(best.seconds / bare.seconds),
      wall_over_copy_floor: round(best.seconds / floor),
      store_insert_over_wall: round(inserted.seconds / best.seconds),
      rows_per_second: Math.round(settlements / best.seconds),
      peak_mb: Math.round(best.peakBytes / 1024 ** 2),
    }),
  )
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
