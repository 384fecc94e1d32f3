import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort } from '../../ops/ports.ts'

/** A TCP proxy to a local server, with faults on demand. */
export interface TcpLink {
  readonly port: number
  /** Connections stay, and nothing passes in either direction. */
  freeze(): void
  thaw(): void
  /** Ends every connection and refuses new ones. */
  cut(): Promise<void>
  mend(): Promise<void>
  /** Cuts each new connection after the number of server bytes that `bytes` returns for it; undefined: cuts none. */
  cutEachAfter(bytes: (() => number) | undefined): void
  close(): Promise<void>
}

/** Starts a link; `targetPort` is evaluated for each connection, so that the server may move. */
export async function startTcpLink(targetPort: number | (() => number)): Promise<TcpLink> {
  const port = await freePort()
  const sockets = new Set<Socket>()
  let frozen = false
  let bytesOfEach: (() => number) | undefined
  const accept = (client: Socket) => {
    const port = typeof targetPort === 'number' ? targetPort : targetPort()
    const server = connect({ port, host: '127.0.0.1', noDelay: true })
    let left = bytesOfEach?.() ?? Number.POSITIVE_INFINITY
    client.on('data', (data) => server.write(data))
    server.on('data', (data) => {
      const isLast = data.length >= left
      client.write(isLast ? data.subarray(0, left) : data, () => isLast && client.destroy())
      left = isLast ? 0 : left - data.length
    })
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      if (frozen) from.pause()
    }
  }
  let listener = await listen(port, accept)
  const cut = async () => {
    const closed = new Promise((resolve) => listener.close(resolve))
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return {
    port,
    freeze() {
      frozen = true
      for (const socket of sockets) socket.pause()
    },
    thaw() {
      frozen = false
      for (const socket of sockets) socket.resume()
    },
    cut,
    async mend() {
      listener = await listen(port, accept)
    },
    cutEachAfter(bytes) {
      bytesOfEach = bytes
    },
    close: cut,
  }
}

async function listen(port: number, accept: (client: Socket) => void): Promise<Server> {
  // Without Nagle's algorithm: no piece waits until the one before it is acknowledged.
  const server = createServer({ noDelay: true }, accept)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return server
}
