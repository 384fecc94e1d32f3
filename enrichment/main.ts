import { openChains, readChains } from '../config/chains.file.ts'
import { openDatabase } from '../db/open.ts'
import { runCommand } from '../ops/cli.ts'
import { readConfig } from './config.ts'
import { onceSources, parseOnce } from './once.ts'

const usage = `
Joins registrations with accounts of the social network: npm run enrichment

  --once --source S --fid N   asks one source about one account now, prints what was read and what is known, and exits
  --accept-hub-totals         use this if the hub is doubted because its totals fell, and the network really has lost these
                              accounts or messages: accepts what the hub knows now, and exits. A running job follows
                              within a minute

  S: ${onceSources.join(', ')}

Configured by environment variables: see .env.example.
`
const options = {
  once: { type: 'boolean' },
  source: { type: 'string' },
  fid: { type: 'string' },
  'accept-hub-totals': { type: 'boolean' },
} as const

await runCommand({ usage, options }, async ({ values }) => {
  const wanted = values.once ? parseOnce(values) : undefined
  const config = readConfig(process.env)
  const chains = readChains({ env: process.env, file: openChains(process.env) })
  const acceptsTotals = values['accept-hub-totals'] === true
  const database = await openDatabase(config.databaseUrl)
  const { runEnrichment } = await import('./run.ts') // loads all sources: --help must be quick
  process.exit(await runEnrichment({ config, chains, database, wanted, acceptsTotals }))
})
