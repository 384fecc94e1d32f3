import type { z } from 'zod'
import { chainNames } from './chains.ts'
import { claimLimits } from './limits.claims.ts'
import { requestLimits } from './limits.ts'
import { enrichmentPort, exportPort, perChain, portal, portalKey, processorPort } from './settings.chains.ts'
import { processors, type Reader, type Setting } from './settings.row.ts'
import {
  contactUrl,
  httpUrl,
  level,
  logWitnesses,
  longSecret,
  oneOf,
  port,
  postgresUrl,
  redisUrl,
  seconds,
  serviceName,
  text,
  whole,
} from './settings.schema.ts'
import { documents, network, upstreams } from './settings.upstreams.ts'

const database = {
  DATABASE_URL: {
    form: postgresUrl,
    unset: 'embedded Postgres',
    about: 'Postgres 15 or newer, as postgres://user:password@host:port/database',
    more: 'Unset: an embedded Postgres under .data/. docker-compose.yml sets it.',
    readers: ['migrate', ...processors, 'enrichment', 'api', 'graphql', 'export'],
  },
  DATABASE_READ_URL: {
    form: postgresUrl,
    unset: 'DATABASE_URL',
    about:
      'standbys of that Postgres to read from, while they are at most 30 seconds behind; otherwise DATABASE_URL is read',
    more: 'Writes, claims and the log of changes always use DATABASE_URL. See docs/operations.md.',
    readers: ['api', 'graphql', 'export'],
  },
  POSTGRES_PASSWORD: {
    form: text,
    unset: 'needed there',
    about: 'password of the Postgres that docker-compose.yml starts: letters and digits',
    readers: ['docker-compose.yml'],
  },
  POSTGRES_SETTINGS: {
    form: oneOf('24gb', '64gb', '256gb'),
    unset: 'by its memory',
    about: 'settings of that Postgres for a host with this much memory: a file in deploy/postgres',
    readers: ['docker-compose.yml'],
  },
  POSTGRES_PORT: {
    form: port,
    default: '5432',
    about: 'TCP port of that Postgres on this host, for readers; on 127.0.0.1 only',
    readers: ['docker-compose.yml'],
  },
  REDIS_URL: {
    form: redisUrl,
    unset: 'limits in memory',
    about: 'Redis for the rate limits, redis://host:port; needed if there is more than one API process',
    more: 'Unset: requests are counted in memory, which is right for one API process. docker-compose.yml sets it.',
    readers: ['api', 'graphql'],
  },
} as const satisfies Record<string, Setting>

const limit = {
  form: whole(1, 1_000_000_000),
  about: 'requests a client may make in a minute, and in a UTC day',
  readers: ['api', 'graphql'],
} as const

const api = {
  HOST: {
    form: text,
    default: '127.0.0.1',
    about: 'address to listen on',
    more:
      'Health and metrics of the other processes listen there too. If it is not a loopback address, BASE_URL must not ' +
      'be one either. With docker-compose.yml: the address of this machine on which the API is published.',
    readers: ['processor', 'enrichment', 'api', 'graphql', 'export', 'docker-compose.yml'],
  },
  PORT: { form: port, default: '3000', about: 'TCP port of the API', readers: ['api', 'docker-compose.yml'] },
  GRAPHQL_PORT: {
    form: port,
    default: '3001',
    about: 'TCP port of GraphQL, which runs as a separate process',
    readers: ['graphql', 'docker-compose.yml'],
  },
  BASE_URL: {
    form: httpUrl,
    default: 'http://127.0.0.1:3000',
    about: 'address of the API as its users see it',
    more: 'Claims are bound to it, and the transparency log is named after it. With docker-compose.yml it must not be a loopback address.',
    readers: ['enrichment', 'api', 'export'],
  },
  SITE_URL: {
    form: httpUrl,
    default: 'http://127.0.0.1:3000',
    about: 'address of the web site',
    more:
      "It is also named in requests to agents' hosts. If the API serves the pages, it must have no path, because they " +
      'link from the root. Unset, docker-compose.yml uses BASE_URL.',
    readers: ['enrichment', 'api', 'export'],
  },
  SERVICE_NAME: {
    form: serviceName,
    default: 'agent-directory',
    about: "name used in texts, in the path of the claim manifest and in requests to agents' hosts",
    more: 'Lowercase letters, digits, hyphens.',
    readers: ['enrichment', 'api', 'export'],
  },
  SECURITY_CONTACT: {
    form: contactUrl,
    unset: 'there is no such file',
    about: 'contact for security reports, shown in /.well-known/security.txt: mailto:, https: or tel:',
    readers: ['api'],
  },
  SECURITY_POLICY: {
    form: httpUrl,
    unset: 'none is named',
    about: 'address of your security policy, shown in that file',
    readers: ['api'],
  },
  TRUST_PROXY_HOPS: {
    form: whole(0, 16),
    default: '0',
    about: 'how many reverse proxies are in front of the process',
    more:
      "Behind them, a client's address is taken from X-Forwarded-For; requests are limited by it. 0: the header is " +
      'ignored.',
    readers: ['api', 'graphql'],
  },
  LIMIT_PER_MINUTE: { ...limit, default: String(requestLimits.perMinute) },
  LIMIT_PER_DAY: { ...limit, default: String(requestLimits.perDay) },
  EXPORT_DIR: {
    form: text,
    default: '.data/exports',
    about: 'folder of the files that npm run export -- --served writes and the API serves under /exports',
    more:
      'While it does not exist, there is nothing under /exports. Use it for nothing else; docker-compose.yml has a ' +
      'volume for it.',
    readers: ['api', 'export'],
  },
  STOP_PAUSE_SECONDS: {
    form: seconds(0, 60),
    default: '0',
    about: 'seconds for which new connections are still accepted after SIGTERM, while /readyz already fails',
    more: 'Set it to the time that your load balancer takes to notice. The image sets 5.',
    readers: ['api', 'graphql'],
  },
  SETTLEMENT_OVERLOADS: {
    form: oneOf('spec', 'all'),
    default: 'spec',
    about: 'which authorizations count as settlements in rows, counts and ranks',
    more:
      'spec: those with the two selectors of the specification; all: also the two with bytes signatures. Either way, ' +
      'all of them are stored.',
    readers: ['enrichment', 'api'],
  },
  SETTLEMENT_SCOPE: {
    form: oneOf('all', 'verified'),
    default: 'all',
    about: 'whose settlements are kept: those of everybody, or only those of verified addresses',
    more:
      'verified: addresses that an account of the social network has verified. Their history is loaded when they are ' +
      'verified, so there is nothing to backfill.',
    readers: ['processor', 'backfill'],
  },
  AUDIT_PAUSE_SECONDS: {
    form: seconds(0.1, 86_400),
    default: '60',
    about: 'least seconds between audits, which read again from the archive or Portal what a node reported at the head',
    readers: ['processor'],
  },
  CLAIM_WINDOW_SECONDS: {
    form: whole(1, claimLimits.signedTimeSeconds),
    default: String(claimLimits.signedTimeSeconds),
    about: "seconds by which the signed time of a claim may differ from the server's time, at most 900",
    readers: ['api'],
  },
  CLAIM_WELL_KNOWN_HOST_LINK: {
    form: oneOf('on', 'off'),
    default: 'on',
    about: 'whether the host of a well-known claim must be linked to the account',
    more: 'on: linked by something its owner signed or wrote. off: anybody who runs a host can claim any account from it.',
    readers: ['api'],
  },
  CLAIM_LAPSE: {
    form: oneOf('on', 'off'),
    default: 'on',
    about: 'whether claims end when what they are based on ends',
    more: 'off: only withdrawals end claims.',
    readers: ['enrichment', 'api'],
  },
  LOG_KEY_FILE: {
    form: text,
    unset: 'nothing is signed, and no log served',
    about: 'file with the Ed25519 key (PKCS #8, PEM) that signs the transparency log under /log, and answers',
    more:
      'Readers keep the key, so back the file up. The enrichment job signs the log; the API, if it has the key as well, ' +
      'answers that are asked for with signed=1. See docs/log.md.',
    readers: ['enrichment', 'api'],
  },
  LOG_WITNESSES: {
    form: logWitnesses,
    unset: 'none',
    about: 'witnesses of the transparency log, as KEY@URL, separated by commas: each cosigns its checkpoints',
    more: 'npm run witness prints its own. They should have other operators. Without LOG_KEY_FILE nobody is asked.',
    readers: ['enrichment'],
  },
  WEBHOOK_SECRET: {
    form: longSecret,
    unset: 'no webhooks',
    about: 'secret that the keys of all webhooks are derived from: 32 characters or more, the same for all processes',
    readers: ['enrichment', 'api'],
  },
  FACILITATOR_HOSTS: {
    form: oneOf('on', 'off'),
    default: 'on',
    about: 'whether listed facilitators are asked every day which accounts they send from',
    more: 'off: senders come from the published list only.',
    readers: ['enrichment'],
  },
  VERIFICATION_PROOF: {
    form: oneOf('signed', 'stated'),
    default: 'signed',
    about: 'what a verification needs to support a claim: signatures that hold, or just the word of the hub',
    more: 'signed: if RPC_OPTIMISM is set, its key must also belong to the account.',
    readers: ['api', 'enrichment'],
  },
} as const satisfies Record<string, Setting>

const everywhere = {
  METRICS_PORT: {
    form: port,
    unset: `${processorPort(0)} and up, ${enrichmentPort}, ${exportPort}`,
    about: 'TCP port of health and metrics',
    more: `Unset: processors ${chainNames.map((name, index) => `${processorPort(index)} (${name})`).join(', ')}; enrichment ${enrichmentPort}; export with --every ${exportPort}; the API has them on PORT, GraphQL on GRAPHQL_PORT. If set, these two serve /metrics on it only.`,
    readers: ['processor', 'enrichment', 'api', 'graphql', 'export'],
  },
  LOG_LEVEL: {
    form: level,
    default: 'info',
    about: `${level.options.slice(0, -1).join(', ')} or silent: lines of JSON on standard output`,
    readers: ['processor', 'enrichment', 'api', 'graphql'],
  },
} as const satisfies Record<string, Setting>

/** Every variable there is, in the order and under the headings of .env.example. */
export const settings: Readonly<Record<string, Readonly<Record<string, Setting>>>> = {
  'Database and Redis': database,
  API: api,
  Chains: { PORTAL_URL: portal, ...portalKey, ...perChain },
  'Social network': network,
  "Agents' documents": documents,
  'Explorers, identities, hosts of code': upstreams,
  'Every process': everywhere,
}

/** Names of the variables that a reader reads, in lines short enough for a terminal. */
export function namesRead(reader: Reader): string {
  const names = Object.values(settings).flatMap((group) =>
    Object.entries(group).flatMap(([name, setting]) => (setting.readers.includes(reader) ? name : [])),
  )
  return wrapped(names.join(', '), 100)
}

/** `words` in lines of at most `width` characters, broken at blanks. */
export function wrapped(words: string, width: number): string {
  return words.replace(new RegExp(`(?! )(.{1,${width}})(?: |$)`, 'g'), '$1\n').trimEnd()
}

/** All settings but those of the chains, which config/chains.file.ts reads. */
export const ofProcesses = { ...database, ...api, ...portalKey, ...network, ...documents, ...upstreams, ...everywhere }
type Table = typeof ofProcesses
type NamesOf<R extends Reader> = { [N in keyof Table]: R extends Table[N]['readers'][number] ? N : never }[keyof Table]
type ValueOf<S extends Setting> = S extends { default: string } ? z.output<S['form']> : z.output<S['form']> | undefined

/** The parsed settings that one reader gets, by variable name. */
export type SettingsOf<R extends Reader> = { readonly [N in NamesOf<R>]: ValueOf<Table[N]> }
