import { openChains } from '../../config/chains.file.ts'
import { namesRead } from '../../config/settings.ts'
import { runCommand } from '../../ops/cli.ts'
import { createGraphqlPool, readConfig } from './config.ts'

const usage = `
npm run graphql

Serves the schema directory as GraphQL: /graphql, with GraphiQL at /; /healthz, /readyz and /metrics for the operator.
Reads as the role directory_reader; the user of DATABASE_URL must be a member of it. Stops on SIGTERM.

Reads ${namesRead('graphql')}: see .env.example.
`

await runCommand({ usage }, async () => {
  openChains(process.env) // an embedded database is migrated, and brought what the chain table says
  const config = readConfig(process.env)
  const { runHttp } = await import('../http-process.ts') // Express and Redis among what it is made of: --help is to be quick
  await runHttp('graphql', { ...config, createReadPool: createGraphqlPool }, async (parts) => {
    Object.assign(process.env, { GRAPHILE_ENV: 'production' }) // unset, the packages ask for it in so many words
    const { createGraphqlApp } = await import('./app.ts')
    return createGraphqlApp({ ...parts, pool: parts.database, trustProxyHops: config.trustProxyHops })
  })
  process.exit(0) // otherwise Node drops its signal handlers first, and a late SIGTERM would decide the exit status
})
