// Runs the real enrichment job while the network is in trouble, until it has tried to read all agents and tokens, and prints
// how it ended as JSON. To be run in network and mount namespaces of its own: the database and a name server are reached
// inside them alone.
import { spawnEnrichment } from '../../support/enrichment-process.ts'
import { until } from '../../support/until.ts'
import { startNameServer } from '../name-server.ts'
import { startDatabaseRelay } from './database-relay.ts'

const [databaseUrl = '', folder = '', zone = '{}', tokens = '', agents = ''] = process.argv.slice(2)

await startDatabaseRelay(databaseUrl, folder)
await startNameServer(JSON.parse(zone), 53)
const job = spawnEnrichment({ DATABASE_URL: databaseUrl, HUB_URL: 'http://127.0.0.1:9' })
await job.untilOutput(/"metrics":".*\n/)
const { metrics } = JSON.parse(job.output().split('\n')[0]!)
/** A figure of the job's, by its name and labels; 0: it has none. */
async function figure(name: string): Promise<number> {
  const text = await (await fetch(`http://${metrics}/metrics`)).text()
  const line = text.split('\n').find((line) => line.startsWith(`agent_directory_${name} `))
  return Number(line?.split(' ')[1] ?? 0)
}
const failed = (source: string) => figure(`enrichment_reads_total{source="${source}",outcome="unreachable"}`)
const isDone = async () =>
  (await failed('agent_uri')) >= Number(tokens) && (await failed('spec_discovery')) >= Number(agents)
await until('all was read', isDone, { everyMs: 200, explain: job.output })
const strays = await figure('stray_errors_total')
const code = await job.kill('SIGTERM')
process.stdout.write(`${JSON.stringify({ strays, code })}\n`, () => process.exit(0))
