import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as Listener, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** Deadline of requests in flight, in milliseconds from the start of the drain: longer than any answer may take. */
const longestMs = 12_000
/**
 * Idle connections are closed after so many milliseconds: on a busy one the next request is under way by then, however
 * slow its client is at the moment.
 */
const idleMs = 2_000
const lookEveryMs = 50

interface Connection {
  /** Responses in flight on this connection. */
  readonly open: Set<ServerResponse>
  /** Bytes received when it last became idle: more than that means that the next request is arriving. */
  bytesRead: number
  idleSince: number
}

/**
 * Tracks a server's connections for a graceful shutdown. The returned function accepts no new connections, sends
 * `Connection: close` with the answers in flight, closes idle connections, and resolves when none is left; those
 * still open at the deadline are cut.
 *
 * Node's own `close` cuts every connection that is idle at that moment, even if its next request is on its way.
 */
export function drainOf(server: Server): () => Promise<void> {
  const connections = new Map<Socket, Connection>()
  let draining = false

  server.on('connection', (socket: Socket) => {
    connections.set(socket, { open: new Set(), bytesRead: 0, idleSince: Date.now() })
    socket.once('close', () => connections.delete(socket))
  })
  const watch = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    const connection = connections.get(socket)
    if (connection) {
      connection.open.add(response)
      response.once('close', () => {
        connection.open.delete(response)
        connection.bytesRead = socket.bytesRead
        connection.idleSince = Date.now()
      })
    }
    if (draining) sayLast(response)
  }
  server.prependListener('request', watch)
  server.prependListener('checkExpectation', watch)

  return async () => {
    draining = true
    for (const { open } of connections.values()) for (const response of open) sayLast(response)
    const closed = new Promise<void>((resolve) => Listener.prototype.close.call(server, () => resolve()))
    const deadline = Date.now() + longestMs
    while (connections.size > 0 && Date.now() < deadline) {
      for (const [socket, { open, bytesRead, idleSince }] of connections) {
        const isIdle = open.size === 0 && socket.bytesRead === bytesRead
        if (isIdle && Date.now() - idleSince >= idleMs) socket.destroy()
      }
      await delay(lookEveryMs)
    }
    server.closeAllConnections()
    server.close() // ends its watch over slow requests; it has no connection and no port any more
    await closed
  }
}

/** Sets `Connection: close`, so that the connection ends with this answer; nothing if its headers are sent already. */
function sayLast(response: ServerResponse) {
  if (!response.headersSent) response.setHeader('Connection', 'close')
}
