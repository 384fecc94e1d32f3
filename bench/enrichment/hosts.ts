import type pg from 'pg'
import { startHub } from '../../devnet/hub/server.ts'
import { HubState } from '../../devnet/hub/state.ts'
import { startUpstream } from '../../devnet/upstreams/server.ts'

/** The hosts that a first pass over many agents asks; all answer without delay, about every subject. */
interface BenchHosts {
  /** Environment of the enrichment job with the URLs of these hosts. */
  readonly env: Record<string, string>
  stop(): Promise<void>
}

/** Number of web hosts that agents share; each gets one request at a time. */
const webHosts = 16

/**
 * Starts hosts for the agents of a world: a hub where they verify their addresses, an explorer with a tag for each, an
 * identity service, a code host with an account, and the agents' own hosts, to which the world's agentURIs are moved.
 */
export async function startBenchHosts(pool: pg.Pool): Promise<BenchHosts> {
  const hub = await startHub(await networkOf(pool))
  const everything = await startUpstream(({ url, body }) => ({ body: answerTo(url, body) }))
  const hosts = await Promise.all(
    Array.from({ length: webHosts }, () =>
      startUpstream(({ method, url, headers }) => pageOf(method, `http://${headers.host}`, url.pathname)),
    ),
  )
  const urls = hosts.map(({ url }) => url)
  await pool.query(
    `update registration set agent_uri = ($1::text[])[1 + agent_id % $2] || '/file/' || agent_id,
            agent_uri_length = length(($1::text[])[1 + agent_id % $2] || '/file/' || agent_id)`,
    [urls, urls.length],
  )
  return {
    env: {
      HUB_URL: hub.url,
      BLOCKSCOUT_URL: everything.url,
      OLI_URL: everything.url,
      WEB3BIO_URL: everything.url,
      GITHUB_URL: everything.url,
      FACILITATOR_HOSTS: 'off',
      EGRESS_ALLOW: urls.map((url) => new URL(url).host).join(),
    },
    async stop() {
      await Promise.all([hub, everything, ...hosts].map((server) => server.stop()))
    },
  }
}

async function networkOf(pool: pg.Pool): Promise<HubState> {
  const state = new HubState()
  const { rows } = await pool.query<{ fid: number; address: string; at: Date }>(
    `select fid, '0x' || encode(address, 'hex') as address, verified_at as at from verified_address order by fid, at`,
  )
  for (const { fid, address, at } of rows) {
    if (!state.accounts.has(fid)) {
      state.addAccount({ fid, custody: `0x${'00'.repeat(20)}`, registeredAt: at })
      state.setProfile(fid, { displayName: `Agent ${fid}`, github: `dev${fid}` }, at)
      state.follow(fid, Math.max(1, fid - 1), at)
    }
    state.addVerification(fid, address, { at })
  }
  state.forgetEvents()
  return state
}

/** Answers with a registration file or the agent card that it names, and with nothing else. */
function pageOf(method: string, origin: string, pathname: string) {
  const [, kind, id = ''] = pathname.split('/')
  if (method !== 'GET' || !/^\d+(\.json)?$/.test(id)) return undefined
  const number = Number.parseInt(id, 10)
  if (kind === 'card') return { body: { name: `Agent ${number}`, url: `${origin}/a2a`, skills: [] } }
  if (kind !== 'file') return undefined
  return { body: { name: `Agent ${number}`, services: [{ name: 'A2A', endpoint: `${origin}/card/${number}.json` }] } }
}

/** Answers with a tag, an identity or an account, whatever the subject. */
function answerTo({ pathname, searchParams }: URL, body: unknown): unknown {
  if (pathname.endsWith('/metadata')) {
    const tags = [{ slug: 'agent', name: 'Agent', tagType: 'name', ordinal: 1, meta: '{}' }]
    const addresses = searchParams.has('chainId') ? [] : (searchParams.get('addresses') ?? '').split(',')
    return { addresses: Object.fromEntries(addresses.map((address) => [address, { tags }])) }
  }
  if (pathname === '/labels/bulk') {
    const { addresses } = body as { addresses: string[] }
    return { results: addresses.map((address) => ({ address, labels: [] })) }
  }
  if (pathname.startsWith('/profile/batch/')) {
    const asked = JSON.parse(decodeURIComponent(pathname.slice('/profile/batch/'.length))) as string[]
    return asked.flatMap((identity) => {
      const [, fid] = /^farcaster,#(\d+)$/.exec(identity) ?? []
      return fid ? [{ identity: `agent${fid}`, platform: 'farcaster', social: { uid: Number(fid) } }] : []
    })
  }
  const [, kind, name = '', rest] = pathname.split('/')
  if (rest === 'repos') return []
  const id = kind === 'user' ? Number(name) : Number(name.slice('dev'.length))
  return { login: `dev${id}`, id }
}
