import { openChains } from '../config/chains.file.ts'
import { openDatabase } from '../db/open.ts'
import { runCommand } from '../ops/cli.ts'
import { readConfig } from './config.ts'

const usage = `
Indexes one chain: npm run processor -- <chain>

<chain> is a name, a label or a chain id from config/chains.ts or CHAINS_FILE. Configured by environment variables: see
.env.example.
`
await runCommand({ usage, maxPositionals: 1 }, async ({ positionals }) => {
  const { env } = process
  const config = readConfig(positionals[0], env, openChains(env))
  const { runProcessor } = await import('./run.ts') // loads the SDK and typeorm: --help must be quick
  await runProcessor(config, await openDatabase(config.databaseUrl), (code) => process.exit(code))
})
