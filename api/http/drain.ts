import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as Listener, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** Requests in flight may take this long after the drain has begun, in milliseconds: longer than any answer may. */
const longestMs = 12_000
/** A connection without a request for this long is closed: on a busy one the next is under way by then. */
const idleMs = 300
const lookEveryMs = 50

interface Connection {
  /** Answers that are not out yet. */
  readonly open: Set<ServerResponse>
  /** Bytes that had come when it was last idle: more of them are the next request. */
  bytesRead: number
  idleSince: number
}

/**
 * Watches a server's connections, so that it can be ended without cutting a request: the returned function takes no new
 * connections, tells every client with its answer that the connection ends, closes those that ask nothing, and resolves
 * when none is left.
 *
 * Node's own `close` ends at once what is idle at that moment, among it connections whose next request is on its way.
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

/** Ends the connection with this answer, and tells the client. */
function sayLast(response: ServerResponse) {
  if (!response.headersSent) response.setHeader('Connection', 'close')
}
