import type { Server } from 'node:http'
import { createServer, isIP } from 'node:net'

/** Ports from here up are handed out by the kernel to outgoing connections; a server there can lose its port. */
const firstEphemeralPort = 32_768
const lowestPort = 20_000
const attempts = 200

/**
 * A TCP port nobody listens on, below the ephemeral range. The first of `preferred` that is free is taken. The port is
 * free when this returns; a caller that loses it to somebody else asks again.
 */
export async function freePort(host = '127.0.0.1', ...preferred: (number | undefined)[]): Promise<number> {
  for (const port of preferred) if (port !== undefined && (await isFree(host, port))) return port
  for (let attempt = 0; attempt < attempts; attempt++) {
    const port = lowestPort + Math.floor(Math.random() * (firstEphemeralPort - lowestPort))
    if (await isFree(host, port)) return port
  }
  throw new Error(`no free port between ${lowestPort} and ${firstEphemeralPort} on ${host}`)
}

/** What a person is told of a port that others had taken; nothing when it is the usual one. */
export function describeMove(what: string, usual: number, port: number): string[] {
  return port === usual ? [] : [`${usual}, so ${what} is on ${port}`]
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, host, () => probe.close(() => resolve(true)))
  })
}

/** Resolves once the server listens; rejects when it cannot, for a port that is taken or not allowed. */
export function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
}

/**
 * Port and address of an API that is told to listen on this host, a name or an IP address. For port 0 a free one is
 * chosen: whoever waits for the API has to know it, and after a restart it must be the same.
 */
export async function chooseAddress({ host, port }: { host: string; port: number }) {
  const chosen = port === 0 ? await freePort(host) : port
  return { port: chosen, url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${chosen}` }
}
