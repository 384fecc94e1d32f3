import { connect, createServer, type Socket } from 'node:net'
import { freePort } from '../../ops/ports.ts'

interface Pooler {
  readonly port: number
  close(): Promise<void>
}

/** Head of a message in Postgres's protocol: a letter, and the length of the rest in four bytes. */
const headBytes = 5
const readyForQuery = 'Z'
const outsideTransaction = 'I'
const terminate = 'X'

/**
 * Stands before a Postgres as PgBouncer does in transaction mode: each client's first connection to the server is
 * opened as it is, and belongs to everybody from then on. A statement outside a transaction runs in the connection that
 * became free last; a transaction keeps its own. Clients wait when none is free.
 */
export async function startPooler(serverPort: number): Promise<Pooler> {
  const port = await freePort()
  const sockets = new Set<Socket>()
  /** Free connections to the server, the one to be used next at the end. */
  const free: Socket[] = []
  const waiting: (() => void)[] = []
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  }

  const accept = (client: Socket) => {
    keep(client)
    let server: Socket | undefined = connect(serverPort, '127.0.0.1')
    keep(server)
    const unsent: Buffer[] = []
    const attach = (socket: Socket) => {
      socket.removeAllListeners('data')
      const isReady = watchReady()
      socket.on('data', (data) => {
        client.write(data)
        if (!isReady(data)) return
        server = undefined
        free.push(socket)
        waiting.shift()?.()
      })
    }
    attach(server)
    const send = () => {
      if (unsent.length === 0) return
      if (!server) {
        server = free.pop()
        if (!server) return void waiting.push(send)
        attach(server)
      }
      server.write(Buffer.concat(unsent.splice(0)))
    }
    client.on('data', (data: Buffer) => {
      if (String.fromCharCode(data[0] as number) === terminate && !server) return // shared connections stay open
      unsent.push(data)
      send()
    })
    client.on('close', () => server?.destroy()) // in a transaction: it is rolled back with its connection
  }
  const listener = createServer(accept)
  await new Promise<void>((resolve) => listener.listen(port, '127.0.0.1', resolve))
  return {
    port,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}

/** Tells, fed with a server's data, whether it is now ready for a statement outside a transaction. */
function watchReady(): (data: Buffer) => boolean {
  let rest: Buffer = Buffer.alloc(0)
  return (data) => {
    rest = Buffer.concat([rest, data])
    let isReady = false
    while (rest.length >= headBytes && rest.length >= 1 + rest.readUInt32BE(1)) {
      const end = 1 + rest.readUInt32BE(1)
      const isLast = String.fromCharCode(rest[0] as number) === readyForQuery
      isReady = isLast && String.fromCharCode(rest[headBytes] as number) === outsideTransaction
      rest = rest.subarray(end)
    }
    return isReady && rest.length === 0
  }
}
