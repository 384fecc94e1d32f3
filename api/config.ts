import { readChains } from '../config/chains.file.ts'
import { publicHubs } from '../config/hosts.ts'
import { readSettings } from '../config/settings.check.ts'
import { hubHeaders, witnessUrls } from '../social/hub-operators.ts'
import { readLogKey } from '../transparency/log-key.ts'

export type Config = ReturnType<typeof readConfig>

/**
 * Settings of the API from the environment; `chainsFile` is the parsed content of CHAINS_FILE.
 *
 * Throws one error that names every bad variable, so that a bad deploy never listens.
 */
export function readConfig(env: NodeJS.ProcessEnv, chainsFile?: unknown) {
  const { vars, others: chains } = readSettings('api', env, () => readChains({ env, file: chainsFile }))
  const hubUrls = vars.HUB_URL ?? publicHubs.map(({ url }) => url)
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
    /** Folder of the files under /exports; while it does not exist there are none. */
    exportDir: vars.EXPORT_DIR,
    /** Keys of the transparency log: the first signs answers, the others did before. Empty: none are signed. */
    answerKeys: vars.LOG_KEY_FILE ? readLogKey(vars.LOG_KEY_FILE, vars.BASE_URL).secrets : [],
    /** Contact and policy for security.txt; undefined: that file is not served. */
    security: vars.SECURITY_CONTACT ? { contact: vars.SECURITY_CONTACT, policy: vars.SECURITY_POLICY } : undefined,
    /** Port of its own for /metrics; undefined: /metrics is served on the public port. */
    metricsPort: vars.METRICS_PORT,
    stopPauseMs: vars.STOP_PAUSE_SECONDS * 1_000,
    limits: { perMinute: vars.LIMIT_PER_MINUTE, perDay: vars.LIMIT_PER_DAY },
    settlementOverloads: vars.SETTLEMENT_OVERLOADS,
    hub: hubOf(hubUrls[0] as string),
    /** Further hubs, asked whether they know the same messages as `hub`. */
    otherHubs: witnessUrls(hubUrls).map(hubOf),
    egressAllow: vars.EGRESS_ALLOW,
    claims: {
      windowSeconds: vars.CLAIM_WINDOW_SECONDS,
      verificationProof: vars.VERIFICATION_PROOF,
      hostLinkRequired: vars.CLAIM_WELL_KNOWN_HOST_LINK === 'on',
      claimsLapse: vars.CLAIM_LAPSE === 'on',
    },
    /** Secret of webhooks; undefined: none are registered. */
    webhookSecret: vars.WEBHOOK_SECRET,
    logLevel: vars.LOG_LEVEL,
    chains,
  }
}
