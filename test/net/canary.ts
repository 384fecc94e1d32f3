import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type AddressInfo, createServer } from 'node:net'

export interface Canary {
  /** Open on every address this machine has, by IPv4 and IPv6. */
  readonly port: number
  /** Connections that arrived, by the address they were made to. */
  readonly arrivals: readonly string[]
  /** Client sockets this process has opened since the start, whether they arrived anywhere or not. */
  readonly sockets: () => number
  stop(): Promise<void>
}

/**
 * A listener no request may ever reach. As it cannot listen on 10.0.0.1 or 169.254.169.254, it also counts the client
 * sockets of this process: a refused target must not even open one.
 */
export async function startCanary(): Promise<Canary> {
  const arrivals: string[] = []
  const server = createServer((socket) => {
    arrivals.push((socket.localAddress ?? 'gone').replace('::ffff:', ''))
    socket.on('error', () => {}).resume()
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ntrue')
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, resolve))
  let sockets = 0
  const count = (_message: unknown) => {
    sockets++
  }
  subscribe('net.client.socket', count)
  return {
    port: (server.address() as AddressInfo).port,
    arrivals,
    sockets: () => sockets,
    async stop() {
      unsubscribe('net.client.socket', count)
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
