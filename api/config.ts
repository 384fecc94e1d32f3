import { z } from 'zod'
import { readChains } from '../chains.file.ts'
import { parseEgressAllow } from '../net/egress.ts'
import { publicHosts } from '../sources.ts'

const whole = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^[0-9]+$/, `must be an integer from ${minimum} to ${maximum}`)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, `must be an integer from ${minimum} to ${maximum}`)

const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) address' })
  .transform((text) => new URL(text).href.replace(/\/+$/, ''))

function parsedEgressAllow(text: string, context: z.RefinementCtx) {
  try {
    return parseEgressAllow(text)
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message.replace(/^EGRESS_ALLOW: /, '') })
    return z.NEVER
  }
}

const environment = z.object({
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// address' }).optional(),
  REDIS_URL: z.url({ protocol: /^rediss?$/, error: 'must be a redis:// or rediss:// address' }).optional(),
  HOST: z.string().default('127.0.0.1'),
  PORT: whole(0, 65_535).default(3000),
  GRAPHQL_PORT: whole(0, 65_535).default(3001),
  BASE_URL: httpUrl.default('http://127.0.0.1:3000'),
  SITE_URL: httpUrl.default('http://127.0.0.1:3000'),
  SERVICE_NAME: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lowercase letters, digits and hyphens, at most 63')
    .default('agent-directory'),
  TRUST_PROXY_HOPS: whole(0, 16).default(0),
  LIMIT_PER_MINUTE: whole(1, 1_000_000_000).default(60),
  LIMIT_PER_DAY: whole(1, 1_000_000_000).default(2000),
  HUB_URL: httpUrl.default(publicHosts.hub.url),
  NEYNAR_API_KEY: z.string().optional(),
  EGRESS_ALLOW: z.string().default('').transform(parsedEgressAllow),
  CLAIM_WINDOW_SECONDS: whole(1, 86_400).default(900),
  CLAIM_WELL_KNOWN_HOST_LINK: z.enum(['on', 'off'], 'must be on or off').default('on'),
  SETTLEMENT_OVERLOADS: z.enum(['spec', 'all'], 'must be spec or all').default('spec'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'must be a level of pino, such as info')
    .default('info'),
})

export type Config = ReturnType<typeof readConfig>

/**
 * What the environment says; `chainsFile` is the parsed content of CHAINS_FILE. An empty variable counts as unset.
 *
 * Throws one error that names every bad variable, so that a bad deploy never listens.
 */
export function readConfig(env: NodeJS.ProcessEnv, chainsFile?: unknown) {
  const problems: string[] = []
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const variables = environment.safeParse(given)
  if (!variables.success) {
    problems.push(...variables.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`))
  }
  const chains = collect(problems, () => readChains({ env, file: chainsFile }))
  if (!variables.success || !chains) throw new Error(`the configuration is wrong:\n  ${problems.join('\n  ')}`)
  const vars = variables.data
  return {
    databaseUrl: vars.DATABASE_URL,
    redisUrl: vars.REDIS_URL,
    host: vars.HOST,
    port: vars.PORT,
    graphqlPort: vars.GRAPHQL_PORT,
    baseUrl: vars.BASE_URL,
    siteUrl: vars.SITE_URL,
    serviceName: vars.SERVICE_NAME,
    trustProxyHops: vars.TRUST_PROXY_HOPS,
    limits: { perMinute: vars.LIMIT_PER_MINUTE, perDay: vars.LIMIT_PER_DAY },
    settlementOverloads: vars.SETTLEMENT_OVERLOADS,
    hub: { url: vars.HUB_URL, headers: hubHeaders(vars.HUB_URL, vars.NEYNAR_API_KEY) },
    egressAllow: vars.EGRESS_ALLOW,
    claims: {
      windowSeconds: vars.CLAIM_WINDOW_SECONDS,
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

function collect<T>(problems: string[], read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    problems.push((error as Error).message)
    return undefined
  }
}
