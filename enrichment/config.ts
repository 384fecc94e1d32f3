import { z } from 'zod'
import { parseEgressAllow } from '../net/egress.ts'
import { githubWithoutToken, namedHost, type PublicHost, publicHosts } from '../sources.ts'

const { hub, neynar, blockscout, oli, web3bio, github } = publicHosts

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http(s) address' })
const withoutSlash = (url: string) => url.replace(/\/+$/, '')
const httpUrls = z
  .string()
  .transform((text) => text.split(/[\s,]+/).filter((url) => url !== ''))
  .pipe(z.array(httpUrl.transform(withoutSlash)).max(10, 'must be 10 addresses at most'))

function parsedEgressAllow(text: string, context: z.RefinementCtx) {
  try {
    return parseEgressAllow(text)
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message.replace(/^EGRESS_ALLOW: /, '') })
    return z.NEVER
  }
}

const headerText = z.string().regex(/^[\x21-\x7e]+$/, 'must be printable and without blanks')
const pollSeconds = 'must be a number of seconds from 0.1 to 3600'

const environment = z.object({
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// address' }).optional(),
  HUB_URL: httpUrl.optional(),
  HUB_POLL_SECONDS: z.coerce.number({ error: pollSeconds }).min(0.1, pollSeconds).max(3600, pollSeconds).default(30),
  NEYNAR_URL: httpUrl.default(neynar.url),
  NEYNAR_API_KEY: z.string().optional(),
  IPFS_GATEWAYS: httpUrls.default(['https://ipfs.io', 'https://dweb.link', 'https://w3s.link']),
  ARWEAVE_URL: httpUrl.transform(withoutSlash).default('https://arweave.net'),
  BLOCKSCOUT_URL: httpUrl.transform(withoutSlash).default(blockscout.url),
  BLOCKSCOUT_API_KEY: headerText.optional(),
  OLI_URL: httpUrl.transform(withoutSlash).default(oli.url),
  OLI_API_KEY: headerText.optional(),
  WEB3BIO_URL: httpUrl.transform(withoutSlash).default(web3bio.url),
  WEB3BIO_API_KEY: headerText.optional(),
  GITHUB_URL: httpUrl.transform(withoutSlash).default(github.url),
  GITHUB_TOKEN: headerText.optional(),
  EGRESS_ALLOW: z.string().default('').transform(parsedEgressAllow),
  SERVICE_NAME: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lowercase letters, digits and hyphens, at most 63')
    .default('agent-directory'),
  SITE_URL: httpUrl.default('http://127.0.0.1:3000'),
  SETTLEMENT_OVERLOADS: z.enum(['spec', 'all'], 'must be spec or all').default('spec'),
  HOST: z.string().default('127.0.0.1'),
  METRICS_PORT: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a port')
    .default('9110')
    .transform(Number)
    .refine((port) => port <= 65_535, 'must be a port'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'must be a level of pino, such as info')
    .default('info'),
})

export type Config = ReturnType<typeof readConfig>

/** What the environment says. An empty variable counts as unset. Throws one error that names every bad variable. */
export function readConfig(env: NodeJS.ProcessEnv) {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = environment.safeParse(given)
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`)
    throw new Error(`the settings are wrong:\n  ${problems.join('\n  ')}`)
  }
  const vars = parsed.data
  return {
    databaseUrl: vars.DATABASE_URL,
    hub: vars.HUB_URL ? { ...namedHost, url: vars.HUB_URL } : hub,
    hubPollMs: vars.HUB_POLL_SECONDS * 1_000,
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
    metricsPort: vars.METRICS_PORT,
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
