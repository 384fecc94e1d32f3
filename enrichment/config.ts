import { enrichmentPort } from '../settings.chains.ts'
import { readSettings } from '../settings.read.ts'
import { witnessUrls } from '../social/hub-operators.ts'
import { githubWithoutToken, namedHost, type PublicHost, publicHosts } from '../sources.ts'

const { hub, neynar, blockscout, oli, web3bio, github } = publicHosts

export type Config = ReturnType<typeof readConfig>

/** What the environment says to the enrichment. Throws one error that names every bad variable. */
export function readConfig(env: NodeJS.ProcessEnv) {
  const { vars } = readSettings('enrichment', env)
  const [followed] = vars.HUB_URL ?? []
  return {
    databaseUrl: vars.DATABASE_URL,
    hub: followed === undefined ? hub : { ...namedHost, url: followed },
    /** Addresses of the hubs that are asked whether they know the same. */
    witnesses: witnessUrls(vars.HUB_URL ?? []),
    /** Addresses of hubs' gRPC APIs, which are asked what an account took back. */
    hubGrpc: vars.HUB_GRPC ?? [],
    /** Absent: only withdrawals end claims. */
    claims: vars.CLAIM_LAPSE === 'on' ? { serviceName: vars.SERVICE_NAME } : undefined,
    /** Whether facilitators are asked for their accounts. */
    asksFacilitators: vars.FACILITATOR_HOSTS === 'on',
    hubPollMs: vars.HUB_POLL_SECONDS * 1_000,
    countsPauseMs: vars.COUNTS_PAUSE_SECONDS * 1_000,
    neynar: vars.NEYNAR_API_KEY
      ? { url: vars.NEYNAR_URL, apiKey: vars.NEYNAR_API_KEY, requestsPerSecond: neynar.requestsPerSecond }
      : undefined,
    agentHosts: {
      ipfsGateways: vars.IPFS_GATEWAYS,
      arweaveUrl: vars.ARWEAVE_URL,
      egressAllow: vars.EGRESS_ALLOW,
      userAgent: `${vars.SERVICE_NAME}/1.0 (+${vars.SITE_URL})`,
    },
    blockscout: keyed(blockscout, vars.BLOCKSCOUT_URL, vars.BLOCKSCOUT_API_KEY),
    oli: keyed(oli, vars.OLI_URL, vars.OLI_API_KEY),
    web3bio: upstreamOf(web3bio, vars.WEB3BIO_URL, vars.WEB3BIO_API_KEY),
    github: upstreamOf(vars.GITHUB_TOKEN ? github : githubWithoutToken, vars.GITHUB_URL, vars.GITHUB_TOKEN),
    settlementOverloads: vars.SETTLEMENT_OVERLOADS,
    host: vars.HOST,
    metricsPort: vars.METRICS_PORT ?? enrichmentPort,
    logLevel: vars.LOG_LEVEL,
  }
}

/** A host with a fixed address, and how much may be asked of it. */
export interface UpstreamSettings {
  readonly url: string
  readonly key: string | undefined
  readonly requestsPerSecond: number
  /** Requests in a UTC day; null: any number. */
  readonly perDay: number | null
}

/** Undefined: off, because the public host gives nothing away without a key. A host of the operator's own may. */
function keyed(publicHost: PublicHost, url: string, key: string | undefined): UpstreamSettings | undefined {
  return url === publicHost.url && publicHost.wantsKey && !key ? undefined : upstreamOf(publicHost, url, key)
}

function upstreamOf(publicHost: PublicHost, url: string, key: string | undefined): UpstreamSettings {
  const { requestsPerSecond, perDay } = url === publicHost.url ? publicHost : namedHost
  return { url, key, requestsPerSecond, perDay }
}
