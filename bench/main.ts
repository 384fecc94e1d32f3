import { resolve } from 'node:path'
import { runCommand, UsageError } from '../ops/cli.ts'
import { untilStopSignal } from '../ops/stop.ts'

const usage = `
npm run bench -- <name> [--small] [--keep]
npm run bench -- rehearsal [--rows <n>] [--in <folder>]
npm run bench -- upgrade [--rows <n>]
npm run bench -- rollup [--rows <n>]
npm run bench -- webhooks [--rows <n>]
npm run bench -- registrations [--rows <n>]

  backfill    loads a million settlements with the backfill, against COPY alone and a plain processor
  api         the read API against a bare server and two frameworks; search; the bulk document
  reads       the statements behind reads, with one agent that has five million settlements: times and plans
  rollup      4,000,000 settlements, or n, half of them of one recipient: rolled up, one taken out and put back, some reset
  rankings    10,000,000 pairs, or n, of 100,000 agents: the rankings after each of three minutes in which some were paid
  farms       10,000 clients of each make of feedback farm among 60,000 honest ones: which are flagged
  registrations
              1,000,000 feedbacks, or n, on 400,000 registrations, or two fifths of n: every list over them, asked for over
              HTTP, and the sums after a reorg; fails if 1 of 100 pages takes more than 50 ms on a quiet machine
  enrichment  leases of 100,000 subjects; a first pass over 20,000 agents whose hosts answer at once
  webhooks    10,000 endpoints, or n, want one change, and some of them are slow or dead: seconds until they have it, and
              what the API's readers notice; fails if 95 of 100 take more than 30
  exports     ten million settlements to Parquet; the log of 250,000 profiles
  log         only the log of 250,000 profiles
  rehearsal   200,000 settlements, or n, through the real commands, with everything that happens to an installation; fails
              if a row, a claim or an answer is lost
  upgrade     migrates a database of the last release with 10,000,000 settlements, or n, while the last release's API is
              being read; fails if an answer is lost or waits a second for a lock. Says so while nothing was released yet
  trust       messages checked per second; a first pass over 20,000 agents with a node that answers at once
  transparency
              a million entries appended to the transparency log; inclusion proofs; all its tiles made again; how long
              changes are visible before the job has signed them

Each prints a table and, as its last line, one JSON object.

  --small  uses a world a hundredth the size, just to see that it runs
  --in     folder of the rehearsal (.data/bench/rehearsal); run the same command again to continue an interrupted load
  --keep   reads only: leaves its database open until Ctrl-C, with rows in every view of the SQL contract, so that
           npm run docs:sql -- --reads can measure it, with its address in DATABASE_URL
`

interface Given {
  /** Settlements of a rehearsal, an upgrade or a roll-up, pairs of rankings, endpoints, feedbacks; undefined: the default. */
  readonly rows: number | undefined
  readonly folder: string
}

const defaultFolder = '.data/bench/rehearsal'
const rehearsedRows = 200_000
const upgradedRows = 10_000_000
const mostRows = 100_000_000
/** Benchmarks of a size that can be given. */
const countedBenches = ['rehearsal', 'upgrade', 'rankings', 'rollup', 'webhooks', 'registrations']

/** Benchmarks by name. Each imports its code when it runs: together they import most of the project, for a second. */
const benches: Record<string, (small: boolean, keep: boolean, given: Given) => Promise<void>> = {
  async rehearsal(_small, _keep, { rows = rehearsedRows, folder }) {
    const { benchRehearsal } = await import('./rehearsal/rehearsal.ts')
    await benchRehearsal({ rows, folder })
  },
  async upgrade(small, _keep, { rows = small ? upgradedRows / 100 : upgradedRows }) {
    const { benchUpgrade } = await import('./upgrade.ts')
    await benchUpgrade({ rows })
  },
  async enrichment(small) {
    const { benchEnrichment } = await import('./enrichment/enrichment.ts')
    await benchEnrichment(small ? { subjects: 1_000, agents: 200 } : { subjects: 100_000, agents: 20_000 })
  },
  async rollup(small, _keep, { rows = small ? 40_000 : 4_000_000 }) {
    const { benchRollup } = await import('./rollup.ts')
    const half = Math.ceil(rows / 2)
    await benchRollup({ many: half, ofOne: half, removed: Math.min(half, small ? 1_000 : 20_000) })
  },
  async rankings(small, _keep, { rows = small ? 50_000 : 10_000_000 }) {
    const { benchRankings } = await import('./rankings.ts')
    await benchRankings(
      small ? { agents: 1_000, pairs: rows, paid: 200 } : { agents: 100_000, pairs: rows, paid: 10_000 },
    )
  },
  async farms(small) {
    const { benchFarms } = await import('./farms/farms.ts')
    await benchFarms({ farm: small ? 400 : 10_000, honest: small ? 3_000 : 60_000, seed: 1 })
  },
  async registrations(small, _keep, { rows = small ? 10_000 : 1_000_000 }) {
    const { benchRegistrations } = await import('./registrations/registrations.ts')
    const size = { agents: Math.ceil(rows / 10), registrations: Math.ceil((rows * 2) / 5), feedback: rows }
    await benchRegistrations(size, small ? 20 : 100)
  },
  async backfill(small) {
    const { benchBackfill } = await import('./backfill.ts')
    await benchBackfill(small ? { chunks: 2, rounds: 1 } : { chunks: 101, rounds: 2 })
  },
  async api(small) {
    const { benchApi } = await import('./api.ts')
    await benchApi({
      size: small
        ? { agents: 1_000, addresses: 1_500, settlements: 50_000 }
        : { agents: 100_000, addresses: 150_000, settlements: 5_000_000 },
      seconds: small ? 2 : 10,
      rounds: small ? 1 : 3,
    })
  },
  async webhooks(small, _keep, { rows = small ? 200 : 10_000 }) {
    const { benchWebhooks } = await import('./enrichment/webhooks.ts')
    await benchWebhooks({ subscribers: rows, changes: Math.ceil(rows / 100) })
  },
  async exports(small) {
    const { benchExports } = await import('./exports.ts')
    await benchExports(
      small
        ? { agents: 1_000, addresses: 1_500, settlements: 200_000 }
        : { agents: 250_000, addresses: 300_000, settlements: 10_000_000 },
    )
  },
  async log(small) {
    const { benchLog } = await import('./exports.ts')
    await benchLog(
      small
        ? { agents: 1_000, addresses: 1_500, settlements: 10_000 }
        : { agents: 250_000, addresses: 300_000, settlements: 100_000 },
    )
  },
  async trust(small) {
    const { benchTrust } = await import('./trust.ts')
    await benchTrust({ agents: small ? 200 : 20_000 })
  },
  async transparency(small) {
    const { benchTransparency } = await import('./transparency/transparency.ts')
    await benchTransparency({ entries: small ? 10_000 : 1_000_000 })
  },
  async reads(small, keep) {
    const { benchReads } = await import('./reads.ts')
    await benchReads({
      lookedAt: keep ? holdUntilStopSignal : undefined,
      size: small
        ? { agents: 1_000, addresses: 1_500, settlements: 10_000 }
        : { agents: 100_000, addresses: 150_000, settlements: 1_000_000 },
      busiest: small ? 50_000 : 5_000_000,
      runs: small ? 10 : 50,
    })
  },
}

async function holdUntilStopSignal(): Promise<void> {
  const hold = setInterval(() => {}, 60_000) // waiting for a signal does not keep Node running
  await untilStopSignal()
  clearInterval(hold)
}

const options = {
  small: { type: 'boolean' },
  keep: { type: 'boolean' },
  rows: { type: 'string' },
  in: { type: 'string' },
} as const

await runCommand({ usage, options, maxPositionals: 1 }, async ({ values, positionals: [name = ''] }) => {
  const bench = Object.hasOwn(benches, name) ? benches[name] : undefined
  if (!bench)
    throw new UsageError(`${name || 'no name'} is not a benchmark; there are ${Object.keys(benches).join(', ')}`)
  if (values.keep && name !== 'reads') throw new UsageError('--keep is for reads')
  if (values.rows !== undefined && !countedBenches.includes(name)) {
    throw new UsageError(`--rows is for ${countedBenches.join(', ')}`)
  }
  if (values.in !== undefined && name !== 'rehearsal') throw new UsageError('--in is for the rehearsal')
  const rows = values.rows === undefined ? undefined : Number(values.rows)
  if (rows !== undefined && !(Number.isSafeInteger(rows) && rows >= 1 && rows <= mostRows)) {
    throw new UsageError(`--rows must be a number from 1 to ${mostRows}`)
  }
  await bench(values.small === true, values.keep === true, { rows, folder: resolve(values.in ?? defaultFolder) })
})
