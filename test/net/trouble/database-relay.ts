import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'

/** Passes connections on to what `open` connects to. */
export function relayTo(open: () => Socket): Server {
  return createServer((client) => {
    const server = open()
    client.on('error', () => server.destroy()).pipe(server)
    server.on('error', () => client.destroy()).pipe(client)
  })
}

/** Name of the socket, a file in a test's folder, through which its database is reached. */
export const databaseSocket = 'database'

/** The database of outside the namespace, at its address, through a socket that is a file. */
export async function startDatabaseRelay(databaseUrl: string, folder: string): Promise<void> {
  const relay = relayTo(() => connect(join(folder, databaseSocket)))
  await once(relay.listen(Number(new URL(databaseUrl).port), '127.0.0.1'), 'listening')
}
