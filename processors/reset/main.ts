import { openChains } from '../../config/chains.file.ts'
import { type ChainName, chainNames, findChain } from '../../config/chains.ts'
import { maxBlock } from '../../db/block-range.ts'
import { openExisting } from '../../db/open.ts'
import { createPool } from '../../db/pool.ts'
import { runCommand, UsageError } from '../../ops/cli.ts'
import { checkDatabase } from '../checks.ts'
import { readConfig } from '../config.ts'
import { commandWaitMs, lockForProcessor } from '../store/lock.ts'

const usage = `
npm run reset -- --chain <chain> --to <block> | --all

Takes a chain back, after a reorg deeper than its processor can undo.

  --to <block>   deletes the rows above this block and restores what changed above it; the processor continues after it.
                 If the source's chain and the indexed one parted below the block, the command goes back to the newest
                 final block that both have
  --all          deletes everything of the chain; its processor starts over

All of it is one transaction, and the API keeps serving. The chain's processor and backfills must not be running. --to asks
the chain's sources for the block's hash and, if a registration changed above the block, for the registry's events from its
first block on.

Configured by the same environment variables as the chain's processor: see .env.example.
`
const options = { chain: { type: 'string' }, to: { type: 'string' }, all: { type: 'boolean' } } as const

await runCommand({ usage, options }, async ({ values }) => {
  const { env } = process
  const name = toChainName(values.chain)
  const to = toBlock(values.to, values.all)
  const config = readConfig(name, env, openChains(env))
  const { chain } = config
  const database = await openExisting(config.databaseUrl)
  const lock = await lockForProcessor(database.databaseUrl, chain, {
    waitMs: commandWaitMs,
    onLost(error) {
      process.stderr.write(`lost the connection that keeps processors of ${name} away: ${error.message}\n`)
      process.exit(1)
    },
  })
  const pool = createPool({
    databaseUrl: database.databaseUrl,
    name: `reset ${name}`,
    max: 1,
    statementTimeoutMs: 0, // it takes longer the more rows are removed
  })
  await checkDatabase(pool, chain)
  const { runReset } = await import('./run.ts') // loads the SDK and typeorm: --help must be quick
  console.log(await runReset(pool, config, to))
  await pool.end()
  await lock.release()
  await database.close()
  process.exit(0)
})

function toChainName(argument: string | undefined): ChainName {
  const name = argument === undefined ? undefined : findChain(argument)
  if (name) return name
  const problem = argument === undefined ? 'name the chain with --chain' : `${argument} is not a chain`
  throw new UsageError(`${problem}; chains are ${chainNames.join(', ')}`)
}

/** Block to go back to; undefined: the whole chain is reset. */
function toBlock(to: string | undefined, all: boolean | undefined): number | undefined {
  if (all && to === undefined) return undefined
  if (all || to === undefined) throw new UsageError('say either --to <block> or --all')
  if (/^\d{1,10}$/.test(to) && Number(to) <= maxBlock) return Number(to)
  throw new UsageError(`--to ${to} is not a block number`)
}
