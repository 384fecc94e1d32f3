import type { Server } from 'node:http'

/** Resolves once the server listens; rejects when it cannot, for a port that is taken or not allowed. */
export function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
}
