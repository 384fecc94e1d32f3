import { openChains, readChains } from '../config/chains.file.ts'
import { readSettings } from '../config/settings.check.ts'
import { openExisting } from '../db/open.ts'
import { createPool } from '../db/pool.ts'
import { runCommand, UsageError } from '../ops/cli.ts'
import { readLogKey } from '../transparency/log-key.ts'

const usage = `
npm run derive -- --all
npm run derive -- --kind edges

Derives again, from what is stored, what the enrichment job derives by key: agents, edges between them, what income is made
of, entries of the transparency log. Where nothing is wrong, nothing changes. It asks nobody outside. The job may run meanwhile, and goes on where this is
interrupted. Prints how far each kind is, and exits with 1 if something cannot be derived.

  --all       every kind, in the order in which they depend on each other
  --kind K    this kind; those behind it follow only where something changed

Reads DATABASE_URL, CHAINS_FILE, SETTLEMENT_OVERLOADS, LOG_KEY_FILE, BASE_URL: see .env.example.
`
const options = { all: { type: 'boolean' }, kind: { type: 'string' } } as const

await runCommand({ usage, options }, async ({ values: { all = false, kind } }) => {
  if (all === (kind !== undefined)) throw new UsageError('give either --all or --kind')
  const { derivations } = await import('./derivations.ts') // --help must be quick
  const { deriveAgain } = await import('./again.ts')
  const kinds = derivations.filter((one) => all || one.kind === kind)
  if (kinds.length === 0) {
    throw new UsageError(`--kind must be one of: ${derivations.map((one) => one.kind).join(', ')}`)
  }
  readChains({ env: process.env, file: openChains(process.env) })
  const { DATABASE_URL, SETTLEMENT_OVERLOADS, LOG_KEY_FILE, BASE_URL } = readSettings('enrichment', process.env).vars
  const log = LOG_KEY_FILE ? readLogKey(LOG_KEY_FILE, BASE_URL) : undefined
  const database = await openExisting(DATABASE_URL)
  const pool = createPool({ databaseUrl: database.databaseUrl, name: 'derive', max: 2 })
  try {
    const context = { pool, now: () => new Date(), settlementOverloads: SETTLEMENT_OVERLOADS, log }
    const failed = await deriveAgain({ kinds, context, tell: (line) => console.log(line) })
    if (failed > 0) throw new Error(`${failed} keys could not be derived; the job tries them again`)
  } finally {
    await pool.end()
    await database.close()
  }
})
