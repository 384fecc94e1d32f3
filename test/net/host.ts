import { type AddressInfo, createServer, type Socket } from 'node:net'

const address = '127.0.0.1'

/**
 * A raw host on the loopback: each connection is handed to `answer` once its request's head is in, or at once for
 * connections that are not to get as far as a request.
 */
export async function startHost(
  answer: (socket: Socket, head: string) => void,
  when: 'after the head' | 'at once' = 'after the head',
) {
  const sockets = new Set<Socket>()
  const heads: string[] = []
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    if (when === 'at once') return answer(socket.resume(), '')
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
  const port = (server.address() as AddressInfo).port
  return {
    port,
    /** `address:port`, as an entry of EGRESS_ALLOW. */
    name: `${address}:${port}`,
    origin: `http://${address}:${port}`,
    /** Raw heads of all requests, in order of arrival. */
    heads,
    /** Connections open now. */
    open: () => sockets.size,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
