// A process that uses the embedded Postgres on a folder: prints what it got, leaves when its input ends.
import { startPostgres } from '../../postgres/embedded.ts'

const server = await startPostgres({ dataFolder: process.argv[2] as string })
const { databaseUrl, adopted, pid, dataFolder } = server
console.log(JSON.stringify({ databaseUrl, adopted, pid, dataFolder }))
process.stdin.resume()
process.stdin.once('end', () => server.stop())
