// Asks hosts through the door while the network of this process is in trouble, and prints what came of each request as
// JSON. To be run in a network namespace of its own. Nothing here catches what no request is told: that ends the process.
import type { Server } from 'node:net'
import { setDefaultCACertificates } from 'node:tls'
import { createDoor, type Door } from '../../../net/door.ts'
import { parseEgressAllow } from '../../../net/egress.ts'
import { DoorError } from '../../../net/errors.ts'
import type { Lookup } from '../../../net/resolver.ts'
import { addressesOf, publicHost } from '../public-host.ts'
import { breaks, type Moment, startHost, startRelay } from './breaking-host.ts'

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

/** Bytes between two moments at which a connection breaks. */
const stride = 23

/** How often requests ended in which way, by the way in which the connection broke, at every moment of it. */
async function breakConnections(host: Server, address: string) {
  const moment: Moment = { bytes: Number.POSITIVE_INFINITY, how: 'end' }
  await startRelay(host, address, moment)
  const door = doorWith(async () => [address])
  const counts: Record<string, Record<string, number>> = {}
  for (const how of breaks) {
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
const started = address === undefined ? undefined : await startHost(address)
if (started) setDefaultCACertificates([started.authority])
const host = started?.secure
const moments = host && address !== undefined ? await breakConnections(host, address) : undefined
process.stdout.write(`${JSON.stringify({ names: await askNames(), moments })}\n`, () => process.exit(0))
