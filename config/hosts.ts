/**
 * A public host that sources send requests to, with its rate limits. `namedHost` holds instead for a host of the
 * operator's own that the settings name in its place.
 */
export interface PublicHost {
  readonly url: string
  readonly requestsPerSecond: number
  /** Requests per UTC day, over all processes and restarts; null: no limit. */
  readonly perDay: number | null
  /** Name of the setting that holds its API key or token; absent: it takes none. */
  readonly keySetting?: string
  /** Whether the key is required; absent: it is optional. */
  readonly wantsKey?: boolean
}

export const publicHosts = {
  /** The smallest plan allows 600 a minute on the routes used. */
  neynar: {
    url: 'https://api.neynar.com',
    requestsPerSecond: 5,
    perDay: null,
    keySetting: 'NEYNAR_API_KEY',
    wantsKey: true,
  },
  /** Free keys allow five requests a second and 100,000 credits a day; a request costs 20 credits. */
  blockscout: {
    url: 'https://api.blockscout.com',
    requestsPerSecond: 4,
    perDay: 4_500,
    keySetting: 'BLOCKSCOUT_API_KEY',
    wantsKey: true,
  },
  oli: {
    url: 'https://api.openlabelsinitiative.org',
    requestsPerSecond: 2,
    perDay: 10_000,
    keySetting: 'OLI_API_KEY',
    wantsKey: true,
  },
  /** The service is free; its rate limit is not published, so these are cautious. */
  web3bio: { url: 'https://api.web3.bio', requestsPerSecond: 1, perDay: 40_000, keySetting: 'WEB3BIO_API_KEY' },
  /** With a token: 5,000 requests an hour. */
  github: { url: 'https://api.github.com', requestsPerSecond: 1, perDay: 100_000, keySetting: 'GITHUB_TOKEN' },
} as const satisfies Record<string, PublicHost>

/** A public hub: who runs it, and where that is said. */
interface PublicHub extends PublicHost {
  readonly operator: string
  readonly source: string
}

/** Default of HUB_URL, each of another operator: the first is followed, the next one testifies and takes over. */
export const publicHubs: readonly [PublicHub, ...PublicHub[]] = [
  {
    // Answers in bulk too. Its operators ask for a gentle pace.
    operator: 'Quilibrium',
    source: 'https://hypersnap.org',
    url: 'https://haatz.quilibrium.com',
    requestsPerSecond: 4,
    perDay: null,
  },
  {
    // A validator of the network, which has other work to do.
    operator: 'uno.fun',
    source: 'https://github.com/farcasterxyz/snapchain/blob/main/src/network/mesh/nodes.rs',
    url: 'https://snap.uno.fun:3381',
    requestsPerSecond: 2,
    perDay: null,
  },
]

/** Ports besides 443 at which agents' own hosts are asked. */
export const agentPorts: readonly number[] = [8443]

/** GitHub without a token, which allows 60 requests an hour: one a minute. */
export const githubWithoutToken: PublicHost = { ...publicHosts.github, requestsPerSecond: 1 / 61, perDay: 1_400 }

/** Limits for a chain's JSON-RPC node; proofs of an account take a request per signing key and per contract wallet. */
export const proofNode = { requestsPerSecond: 10, perDay: null }

/** Most requests to the other hubs of HUB_URL, and those of HUB_GRPC, all of them together; fewer if one allows fewer. */
export const otherHubs = { requestsPerSecond: 10, perDay: null }

/** Limits for a host that the operator names in place of a public one. 429 and Retry-After are obeyed there as well. */
export const namedHost = { requestsPerSecond: 100, perDay: null }

/** A hub by its address, with the limits of a public one or of the operator's own. */
export function hubAt(url: string): PublicHost {
  return publicHubs.find((one) => one.url === url) ?? { ...namedHost, url }
}
