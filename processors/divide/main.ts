import { chainNames, findChain } from '../../chains.config.ts'
import { openChains } from '../../chains.file.ts'
import { openExisting } from '../../db/open.ts'
import { createPool } from '../../db/pool.ts'
import { refusePooler } from '../../db/pooler.ts'
import { runCommand, UsageError } from '../../ops/cli.ts'
import { untilStopSignal } from '../../ops/stop.ts'
import { checkDatabase } from '../checks.ts'
import { readConfig } from '../config.ts'

const usage = `
npm run divide -- --chain <chain>

Divides the settlements of a chain by blocks, where they are one table from before its partitions were made so: only divided
ones can be archived, frozen, and loaded aside. Reads and writes go on meanwhile. The rows are copied, so there has to be
room for the chain's settlements twice.

It may be killed at any time: run the same command again to continue. Processors of the chain have to be of this release.

Configured by the same environment variables as the chain's processor: see .env.example.
`
const options = { chain: { type: 'string' } } as const

await runCommand({ usage, options }, async ({ values }) => {
  const { env } = process
  const name = values.chain === undefined ? undefined : findChain(values.chain)
  if (!name) throw new UsageError(`name the chain with --chain; chains are ${chainNames.join(', ')}`)
  const { chain, databaseUrl: url } = readConfig(name, env, openChains(env))
  untilStopSignal().then((signal) => {
    process.stderr.write(`${signal}: stopped; run the same command again to continue\n`)
    process.exit(signal === 'SIGINT' ? 130 : 143)
  })
  const { divideSettlements } = await import('./divide.ts') // imported late, so that --help is quick
  const { databaseUrl, close } = await openExisting(url)
  await refusePooler(databaseUrl)
  const pool = createPool({ databaseUrl, name: `divide ${name}`, max: 2, statementTimeoutMs: 0 })
  try {
    await checkDatabase(pool, chain)
    if (chain.tokens.length === 0) throw new UsageError(`${name} has no settlements`)
    if (!(await divideSettlements({ pool, chain, print: console.log }))) console.log(`${name} is divided already`)
  } finally {
    await pool.end()
    await close()
  }
})
