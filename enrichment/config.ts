import { githubWithoutToken, hubAt, namedHost, type PublicHost, publicHosts, publicHubs } from '../config/hosts.ts'
import { enrichmentPort } from '../config/settings.chains.ts'
import { readSettings } from '../config/settings.check.ts'
import { userAgentOf } from '../net/user-agent.ts'
import { witnessUrls } from '../social/hub-operators.ts'
import { readLogKey } from '../transparency/log-key.ts'
import { keyTypes, parseKey } from '../transparency/note.ts'
import type { LogWitness } from './cosignatures/witness.ts'

const { neynar, blockscout, oli, web3bio, github } = publicHosts

export type Config = ReturnType<typeof readConfig>

/** Configuration of the enrichment job. Throws one error that names every bad variable. */
export function readConfig(env: NodeJS.ProcessEnv) {
  const { vars } = readSettings('enrichment', env)
  const hubUrls = vars.HUB_URL ?? publicHubs.map(({ url }) => url)
  return {
    databaseUrl: vars.DATABASE_URL,
    hub: hubAt(hubUrls[0] as string),
    /** Further hubs, of other operators: asked whether they know the same messages, or followed instead. */
    otherHubs: witnessUrls(hubUrls).map(hubAt),
    /** Addresses of hubs' gRPC APIs, which are asked for the removals an account signed. */
    hubGrpc: vars.HUB_GRPC ?? [],
    /** Settings of the claim checks; undefined: claims are not checked, and only withdrawals end them. */
    claims:
      vars.CLAIM_LAPSE === 'on'
        ? { serviceName: vars.SERVICE_NAME, verificationProof: vars.VERIFICATION_PROOF }
        : undefined,
    /** Signs the transparency log; undefined: it is not signed. */
    log: vars.LOG_KEY_FILE ? readLogKey(vars.LOG_KEY_FILE, vars.BASE_URL) : undefined,
    /** Witnesses that cosign its checkpoints. */
    logWitnesses: vars.LOG_KEY_FILE ? (vars.LOG_WITNESSES ?? []).map(witnessAt) : [],
    /** Secret of webhooks, and the address that messages name; undefined: nothing is sent. */
    webhooks: vars.WEBHOOK_SECRET ? { secret: vars.WEBHOOK_SECRET, baseUrl: vars.BASE_URL } : undefined,
    /** Whether facilitators are asked which accounts they send from. */
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
      userAgent: userAgentOf({ serviceName: vars.SERVICE_NAME, siteUrl: vars.SITE_URL }),
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

/** Throws for a key that is not a witness's. */
function witnessAt({ key, url }: LogWitness): LogWitness {
  try {
    parseKey(key, keyTypes.cosignature)
    return { key, url }
  } catch (cause) {
    throw new Error(`LOG_WITNESSES: ${(cause as Error).message}: ${key}`, { cause })
  }
}

/** A host with a fixed address, and its limits. */
export interface UpstreamSettings {
  readonly url: string
  readonly key: string | undefined
  readonly requestsPerSecond: number
  /** Requests in a UTC day; null: any number. */
  readonly perDay: number | null
}

/** Undefined: the source is off, because its public host requires a key. A host of the operator's own may not. */
function keyed(publicHost: PublicHost, url: string, key: string | undefined): UpstreamSettings | undefined {
  return url === publicHost.url && publicHost.wantsKey && !key ? undefined : upstreamOf(publicHost, url, key)
}

function upstreamOf(publicHost: PublicHost, url: string, key: string | undefined): UpstreamSettings {
  const { requestsPerSecond, perDay } = url === publicHost.url ? publicHost : namedHost
  return { url, key, requestsPerSecond, perDay }
}
