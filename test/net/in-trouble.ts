// Asks hosts through the door while the network of this process is in trouble, and prints what came of each request as
// JSON. To be run in a network namespace of its own. Nothing here catches what no request is told: that ends the process.
import { once } from 'node:events'
import { createServer, connect as open, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, setDefaultCACertificates } from 'node:tls'
import { createDoor, type Door } from '../../net/door.ts'
import { parseEgressAllow } from '../../net/egress.ts'
import { DoorError } from '../../net/errors.ts'
import type { Lookup } from '../../net/resolver.ts'
import { issueCertificate } from './certificate.ts'
import { addressesOf, publicHost } from './public-host.ts'

const options = { maxBytes: 65_536, timeoutMs: 60_000 }
const userAgent = 'agent-directory-test/1.0 (+https://agents.shop.xyz/about)'
const politeness = { intervalMs: 0, maxWaiting: 1_000, maxWaitMs: 60_000 }

function doorWith(lookup?: Lookup, allowed = ''): Door {
  const egressAllow = parseEgressAllow(allowed)
  return createDoor({ userAgent, egressAllow, politeness, ...(lookup && { lookup }) })
}

/** Status or reason that a request ends with; nothing but a DoorError may end it otherwise. */
async function outcomeOf(door: Door, url: string, timeoutMs = options.timeoutMs): Promise<number | string> {
  try {
    return (await door.fetch(url, { ...options, timeoutMs })).status
  } catch (error) {
    if (!(error instanceof DoorError)) throw error
    return error.reason
  }
}

/** Every kind of name, asked by https and, where an operator allows the host, by http. */
async function askNames(): Promise<Record<string, readonly (number | string)[]>> {
  const outcomes: Record<string, readonly (number | string)[]> = {}
  for (const [kind, addresses] of Object.entries(addressesOf)) {
    const lookup: Lookup = async () => addresses
    const secure = await outcomeOf(doorWith(lookup), `https://${publicHost}/`)
    const plain = await outcomeOf(doorWith(lookup, `${publicHost}:80`), `http://${publicHost}/`)
    outcomes[kind] = [secure, plain]
  }
  outcomes.unanswered = [await outcomeOf(doorWith(), `https://${publicHost}/`, 300)]
  return outcomes
}

/** A host with certificate and answer at `address`:443 and :80, whose certificate this process trusts. */
async function startHost(address: string): Promise<Server> {
  const authority = issueCertificate('Test Authority')
  setDefaultCACertificates([authority.pem.cert])
  const answer = (socket: Socket) => {
    socket.on('error', () => {}).resume()
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ntrue')
  }
  const secure = createTlsServer(issueCertificate(publicHost, authority).pem, answer).on('tlsClientError', () => {})
  const plain = createServer(answer)
  await Promise.all([once(secure.listen(0, address), 'listening'), once(plain.listen(80, address), 'listening')])
  return secure
}

/** What a connection does once the host has sent so many bytes. */
const breaks: Record<string, (socket: Socket) => void> = {
  end: (socket) => socket.end(),
  reset: (socket) => socket.resetAndDestroy(),
  garbage: (socket) => socket.end(Buffer.alloc(64, 0x17)),
  silence: () => {},
}
/** Bytes between two moments at which a connection breaks. */
const stride = 23

/** A relay at `address`:443 to a host, which lets `moment.bytes` of its answer pass and then breaks the connection. */
async function startRelay(host: Server, address: string, moment: { bytes: number; how: keyof typeof breaks }) {
  const { port } = host.address() as { port: number }
  const relay = createServer((socket) => {
    const { bytes, how } = moment
    const behind = open(port, address)
    let left = bytes
    const breakOff = () => {
      behind.destroy()
      breaks[how]?.(socket)
    }
    socket.on('error', () => {}).on('close', () => behind.destroy())
    socket.on('data', (chunk) => behind.write(chunk))
    behind.on('error', () => {}).on('end', () => socket.end())
    behind.on('data', (chunk) => {
      if (left > 0) socket.write(chunk.subarray(0, left))
      if (chunk.length >= left) breakOff()
      left -= chunk.length
    })
    if (bytes === 0) breakOff()
  })
  await once(relay.listen(443, address), 'listening')
  return relay
}

/** How often requests ended in which way, by the way in which the connection broke, at every moment of it. */
async function breakConnections(host: Server, address: string) {
  const moment = { bytes: Number.POSITIVE_INFINITY, how: 'end' as keyof typeof breaks }
  await startRelay(host, address, moment)
  const door = doorWith(async () => [address])
  const counts: Record<string, Record<string, number>> = {}
  for (const how of Object.keys(breaks)) {
    const outcomes: Record<string, number> = {}
    for (let bytes = 0; outcomes[200] === undefined; bytes += stride) {
      Object.assign(moment, { bytes, how })
      const outcome = await outcomeOf(door, `https://${publicHost}/`, how === 'silence' ? 60 : options.timeoutMs)
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    }
    counts[how] = outcomes
  }
  return counts
}

const address = process.argv[2]
const host = address === undefined ? undefined : await startHost(address)
const moments = host && address !== undefined ? await breakConnections(host, address) : undefined
process.stdout.write(`${JSON.stringify({ names: await askNames(), moments })}\n`, () => process.exit(0))
