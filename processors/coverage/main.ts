import { openChains, readChains } from '../../config/chains.file.ts'
import { coverageLimits } from '../../config/limits.ts'
import { readSettings } from '../../config/settings.check.ts'
import { openExisting } from '../../db/open.ts'
import { createPool } from '../../db/pool.ts'
import { readCoverage } from '../../db/queries/log/coverage.ts'
import { runCommand } from '../../ops/cli.ts'
import { describeChain } from './describe.ts'

const usage = `
npm run coverage [-- --json]

Prints for every chain which blocks are indexed and by whom, which are reserved, what was audited, the certificates of what
was found in them, and what is missing, with the command that closes each gap. Reads only the database.

--json  prints the same JSON as GET /api/coverage

Reads DATABASE_URL, CHAINS_FILE: see .env.example.
`

await runCommand({ usage, options: { json: { type: 'boolean' } } }, async ({ values }) => {
  const { env } = process
  const { vars, others } = readSettings('backfill', env, () => readChains({ env, file: openChains(env) }))
  const database = await openExisting(vars.DATABASE_URL)
  const pool = createPool({ databaseUrl: database.databaseUrl, name: 'coverage', max: 1 })
  try {
    const coverage = await readCoverage(pool, others, coverageLimits.members)
    if (values.json) console.log(JSON.stringify(coverage, null, 2))
    else for (const chain of coverage.chains) console.log(describeChain(chain))
  } finally {
    await pool.end()
    await database.close()
  }
})
