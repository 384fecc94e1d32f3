import { readChains } from '../chains.file.ts'
import { readSettings } from '../settings.read.ts'
import { witnessUrls } from '../social/hub-operators.ts'
import { publicHosts } from '../sources.ts'

export type Config = ReturnType<typeof readConfig>

/**
 * What the environment says to the API; `chainsFile` is the parsed content of CHAINS_FILE.
 *
 * Throws one error that names every bad variable, so that a bad deploy never listens.
 */
export function readConfig(env: NodeJS.ProcessEnv, chainsFile?: unknown) {
  const { vars, others: chains } = readSettings('api', env, () => readChains({ env, file: chainsFile }))
  const hubUrls = vars.HUB_URL ?? [publicHosts.hub.url]
  const hubOf = (url: string) => ({ url, headers: hubHeaders(url, vars.NEYNAR_API_KEY) })
  return {
    databaseUrl: vars.DATABASE_URL,
    readUrl: vars.DATABASE_READ_URL,
    redisUrl: vars.REDIS_URL,
    host: vars.HOST,
    port: vars.PORT,
    baseUrl: vars.BASE_URL,
    siteUrl: vars.SITE_URL,
    serviceName: vars.SERVICE_NAME,
    trustProxyHops: vars.TRUST_PROXY_HOPS,
    /** Of the files under /exports; undefined: there are none. */
    exportDir: vars.EXPORT_DIR,
    /** Undefined: there is no security.txt. */
    security: vars.SECURITY_CONTACT ? { contact: vars.SECURITY_CONTACT, policy: vars.SECURITY_POLICY } : undefined,
    /** Of /metrics, apart from the port that strangers reach; undefined: on that one. */
    metricsPort: vars.METRICS_PORT,
    stopPauseMs: vars.STOP_PAUSE_SECONDS * 1_000,
    limits: { perMinute: vars.LIMIT_PER_MINUTE, perDay: vars.LIMIT_PER_DAY },
    settlementOverloads: vars.SETTLEMENT_OVERLOADS,
    hub: hubOf(hubUrls[0] as string),
    /** Asked whether they know the same. */
    otherHubs: witnessUrls(hubUrls).map(hubOf),
    egressAllow: vars.EGRESS_ALLOW,
    claims: {
      windowSeconds: vars.CLAIM_WINDOW_SECONDS,
      verificationProof: vars.VERIFICATION_PROOF,
      hostLinkRequired: vars.CLAIM_WELL_KNOWN_HOST_LINK === 'on',
    },
    logLevel: vars.LOG_LEVEL,
    chains,
  }
}

/** Neynar's own hub wants the key as well; nobody else's gets it. */
function hubHeaders(url: string, neynarKey: string | undefined): Record<string, string> {
  return neynarKey && new URL(url).hostname.endsWith('.neynar.com') ? { 'x-api-key': neynarKey } : {}
}
