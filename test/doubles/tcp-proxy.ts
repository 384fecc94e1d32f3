import { connect, createServer, type Socket } from 'node:net'
import { freePort } from '../../ops/ports.ts'

interface TcpProxy {
  readonly port: number
  /**
   * Ends the server's side of the connection that the server sees coming from this port, and leaves the client's side
   * open: the client does not learn that the other end is gone.
   */
  loseServerSide(clientPort: number): void
  /** New connections go to this port of this machine; those that are open stay where they are. */
  pointTo(port: number): void
  close(): Promise<void>
}

/** Passes connections on to a port of this machine. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  let target = targetPort
  const pairs = new Set<{ client: Socket; server: Socket }>()
  const proxy = createServer((client) => {
    const server = connect(target, '127.0.0.1')
    const pair = { client, server }
    pairs.add(pair)
    client.on('data', (data) => server.writable && server.write(data))
    server.on('data', (data) => client.write(data))
    client.on('close', () => {
      server.destroy()
      pairs.delete(pair)
    })
    server.on('close', () => lost.has(server) || client.destroy())
    client.on('error', () => client.destroy())
    server.on('error', () => server.destroy())
  })
  const lost = new Set<Socket>()
  const port = await freePort()
  await new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve))
  return {
    port,
    loseServerSide(clientPort) {
      const pair = [...pairs].find(({ server }) => server.localPort === clientPort)
      if (!pair) throw new Error(`no connection of the proxy has port ${clientPort}`)
      lost.add(pair.server)
      pair.server.destroy()
    },
    pointTo(port) {
      target = port
    },
    close: () =>
      new Promise((resolve) => {
        for (const { client } of pairs) client.destroy()
        proxy.close(() => resolve())
      }),
  }
}
