import { mkdirSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { runCommand, UsageError } from '../ops/cli.ts'
import { withLock } from '../ops/lock.mjs'

const usage = `
npm start [-- --seed <text>] [--state-folder <folder>] [--history]

Runs the whole directory on this machine: seven local chains with their contracts, a stand-in for the social network's hub,
a world of agents that stays busy, a Postgres, all processors, the enrichment job, and the API. Every start creates the same
world from scratch. Prints "ready <address>" once it answers; Ctrl-C stops everything.

  --seed <text>            a different text makes a different world (default: devnet)
  --state-folder <folder>  where data, logs and devnet.json go (default: .data)
  --history                a month of payments before the registries, which npm run backfill -- --all loads: to rehearse that
                           on this world, with --plan, npm run coverage, backup and restore

Reads DATABASE_URL (its server is used, with a separate database <name>_devnet), PORT, LIMIT_PER_MINUTE,
LIMIT_PER_DAY, SERVICE_NAME, SETTLEMENT_SCOPE, LOG_LEVEL: see .env.example.
`
const options = {
  seed: { type: 'string', default: 'devnet' },
  'state-folder': { type: 'string', default: '.data' },
  history: { type: 'boolean', default: false },
} as const

await runCommand({ usage, options }, async ({ values, positionals }) => {
  if (positionals.length > 0) throw new UsageError(`npm start takes no argument, got ${positionals[0]} (try --help)`)
  mkdirSync(values['state-folder'], { recursive: true })
  const folder = realpathSync(resolve(values['state-folder']))
  const onWait = () => {
    throw new Error(`it is already running in ${folder}; stop that one first, or choose another --state-folder`)
  }
  await withLock({ name: `stack ${folder}`, waitMs: 0, onWait }, async () => {
    const { runDevnet } = await import('./run.ts') // the settings of all processes among it: --help is to be quick
    const { seed, history } = values
    await runDevnet({ folder, seed, history, env: process.env, exit: () => process.exit(1) })
  })
  process.exit()
})
