import { openChains } from '../config/chains.file.ts'
import { namesRead } from '../config/settings.ts'
import { runCommand } from '../ops/cli.ts'
import { readConfig } from './config.ts'

const usage = `
npm run api

Serves the directory over HTTP: pages at /, JSON under /api, feeds such as /feed.atom, the bulk file at /data/agents.json;
/healthz, /readyz and /metrics for the operator. Stops on SIGTERM, once the requests in flight are answered.

Reads ${namesRead('api')}: see .env.example.
`

await runCommand({ usage }, async () => {
  const config = readConfig(process.env, openChains(process.env))
  const { serveApi } = await import('./serve.ts') // most of the project: --help is to be quick
  await serveApi(config)
  process.exit(0) // otherwise Node drops its signal handlers first, and a late SIGTERM would decide the exit status
})
