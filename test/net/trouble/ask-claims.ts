// Claims hosts by well-known at the real API while the network is in trouble, and prints what came of each claim as JSON.
// To be run in network and mount namespaces of its own: database, name server and hosts are reached inside them alone.
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../../../ops/ports.ts'
import { startMain } from '../../support/mains.ts'
import { until } from '../../support/until.ts'
import { startNameServer } from '../name-server.ts'
import { addressesOf } from '../public-host.ts'
import { breaks, type Moment, startHost, startRelay } from './breaking-host.ts'
import { startDatabaseRelay } from './database-relay.ts'

const [databaseUrl = '', folder = '', address] = process.argv.slice(2)
/** Bytes between two moments at which a connection breaks: several for each record of TLS. */
const stride = 149
/** Silence lasts until the service gives up: it is tried before, in the middle of and behind the handshake. */
const silent = [0, 600, 1_400]

const hostOf = (kind: string) => `${kind.toLowerCase().replace(/ /g, '-')}.shop.xyz`

async function startService(authority: string | undefined) {
  const ca = join(folder, 'authority.pem')
  if (authority) await writeFile(ca, authority)
  const port = await freePort()
  const child = startMain('api/main.ts', [], {
    env: {
      DATABASE_URL: databaseUrl,
      PORT: String(port),
      BASE_URL: 'https://api.agents.example',
      SITE_URL: 'https://agents.example',
      HUB_URL: 'http://127.0.0.1:9',
      TRUST_PROXY_HOPS: '1',
      LIMIT_PER_MINUTE: '10000',
      ...(authority && { NODE_EXTRA_CA_CERTS: ca }),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const url = `http://127.0.0.1:${port}`
  const answers = () =>
    fetch(`${url}/readyz`)
      .then(({ ok }) => ok)
      .catch(() => false)
  await until('the API is ready', answers)
  return { child, url }
}

let claims = 0

/** Status and code of the answer to a claim of a host, each by another client, for another FID. */
async function claim(url: string, host: string): Promise<string> {
  const fid = ++claims
  const answer = await fetch(`${url}/api/claim`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': `198.18.${fid >> 8}.${fid & 255}` },
    body: JSON.stringify({ method: 'well-known', fid, host, nonce: `nonce${fid}0000000` }),
  })
  const { error } = (await answer.json()) as { error?: string }
  return `${answer.status} ${error}`
}

async function breakConnections(url: string, moment: Moment) {
  const counts: Record<string, Record<string, number>> = {}
  for (const how of breaks) {
    const outcomes: Record<string, number> = {}
    for (let n = 0; how === 'silence' ? n < silent.length : !outcomes['400 ERR_PAYLOAD_INVALID']; n++) {
      Object.assign(moment, { how, bytes: how === 'silence' ? silent[n] : n * stride })
      const outcome = await claim(url, hostOf('A only'))
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    }
    counts[how] = outcomes
  }
  return counts
}

await startDatabaseRelay(databaseUrl, folder)
const zone = Object.fromEntries(Object.entries(addressesOf).map(([kind, addresses]) => [hostOf(kind), addresses]))
const moment: Moment = { bytes: Number.POSITIVE_INFINITY, how: 'end' }
const host = address === undefined ? undefined : await startHost(address)
if (host && address !== undefined) await startRelay(host.secure, address, moment)
await startNameServer(address === undefined ? zone : { ...zone, [hostOf('A only')]: [address] }, 53)

const { child, url } = await startService(host?.authority)
const kinds = [...Object.keys(addressesOf), 'unanswered']
const outcomes = await Promise.all(kinds.map(async (kind) => [kind, await claim(url, hostOf(kind))] as const))
const names = Object.fromEntries(outcomes)
const moments = host && (await breakConnections(url, moment))
const metrics = await (await fetch(`${url}/metrics`)).text()
const strays = Number(/^agent_directory_stray_errors_total (\d+)$/m.exec(metrics)?.[1])
const ended = once(child, 'exit')
const alive = child.exitCode === null && (await fetch(`${url}/readyz`)).status
child.kill('SIGTERM')
const [code] = await ended
process.stdout.write(`${JSON.stringify({ names, moments, strays, alive, code })}\n`, () => process.exit(0))
