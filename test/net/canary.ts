import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Server } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { portOf } from '../../ops/health.ts'

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
    arrivals.push(socket.localAddress ?? 'gone')
    socket.on('error', () => {}).resume()
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ntrue')
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '::', resolve))
  let sockets = 0
  const count = (_message: unknown) => {
    sockets++
  }
  subscribe('net.client.socket', count)
  return {
    port: portOf(server as unknown as Server),
    arrivals,
    sockets: () => sockets,
    async stop() {
      unsubscribe('net.client.socket', count)
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A raw host: each connection is handed to `answer` once its request's head is in. Listens on `address`. */
export async function startHost(answer: (socket: Socket, head: string) => void, address = '127.0.0.1') {
  const sockets = new Set<Socket>()
  const heads: string[] = []
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    let received = ''
    const read = (chunk: Buffer) => {
      received += chunk.toString('latin1')
      if (!received.includes('\r\n\r\n')) return
      socket.off('data', read).resume()
      heads.push(received)
      answer(socket, received)
    }
    socket.on('data', read)
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, address, resolve))
  const port = portOf(server as unknown as Server)
  return {
    port,
    origin: `http://${address}:${port}`,
    /** Heads of all requests, as they came. */
    heads,
    /** Connections open now. */
    open: () => sockets.size,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
