import type { z } from 'zod'
import { chainNames } from './chains.config.ts'
import { claimLimits, requestLimits } from './limits.config.ts'
import { enrichmentPort, exportPort, perChain, portal, portalKey, processorPort } from './settings.chains.ts'
import {
  contactUrl,
  egressAllow,
  httpUrl,
  httpUrls,
  hubUrls,
  keyText,
  level,
  oneOf,
  port,
  postgresUrl,
  redisUrl,
  seconds,
  serviceName,
  text,
  whole,
} from './settings.forms.ts'
import { processors, type Reader, type Setting } from './settings.row.ts'
import { publicHosts } from './sources.ts'

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
    about: 'standbys of that Postgres, to read at: what is served is at most 30 seconds old, else it is read there',
    more: 'Writes, claims and the log of changes stay with DATABASE_URL. docs/operations.md says more.',
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
    about: 'settings of that Postgres, a file of deploy/postgres: for a host of so much memory',
    readers: ['docker-compose.yml'],
  },
  POSTGRES_PORT: {
    form: port,
    default: '5432',
    about: 'TCP port of that Postgres on this host, for readers; on 127.0.0.1 alone',
    readers: ['docker-compose.yml'],
  },
  REDIS_URL: {
    form: redisUrl,
    unset: 'limits in memory',
    about: 'Redis of the rate limits, redis://host:port; needed when there is more than one API process',
    more: 'Unset: counted in memory, right for one API process. docker-compose.yml sets it.',
    readers: ['api', 'graphql'],
  },
} as const satisfies Record<string, Setting>

const limit = {
  form: whole(1, 1_000_000_000),
  about: 'requests of a client a minute, and a UTC day',
  readers: ['api', 'graphql'],
} as const

const api = {
  HOST: {
    form: text,
    default: '127.0.0.1',
    about: 'address to listen on',
    more:
      'Health and metrics of the other processes listen there too. Another than a loopback address asks for a BASE_URL ' +
      'that is none either. With docker-compose.yml: address of this machine that the API is published on.',
    readers: ['processor', 'enrichment', 'api', 'graphql', 'export', 'docker-compose.yml'],
  },
  PORT: { form: port, default: '3000', about: 'TCP port of the API', readers: ['api', 'docker-compose.yml'] },
  GRAPHQL_PORT: {
    form: port,
    default: '3001',
    about: 'TCP port of GraphQL, which is a process of its own',
    readers: ['graphql', 'docker-compose.yml'],
  },
  BASE_URL: {
    form: httpUrl,
    default: 'http://127.0.0.1:3000',
    about: 'address of the API as its users see it',
    more: 'Claims are bound to it. docker-compose.yml needs one that is no loopback address.',
    readers: ['api', 'export'],
  },
  SITE_URL: {
    form: httpUrl,
    default: 'http://127.0.0.1:3000',
    about: 'address of the web site',
    more:
      "Requests to agents' hosts name it too. Where the API serves the pages it has no path: they link from the root. " +
      'docker-compose.yml takes BASE_URL when it is unset.',
    readers: ['enrichment', 'api', 'export'],
  },
  SERVICE_NAME: {
    form: serviceName,
    default: 'agent-directory',
    about: "name in texts, in the path of the claim manifest and in requests to agents' hosts",
    more: 'Lowercase letters, digits, hyphens.',
    readers: ['enrichment', 'api', 'export'],
  },
  SECURITY_CONTACT: {
    form: contactUrl,
    unset: 'there is no such file',
    about: 'whom /.well-known/security.txt tells to report faults of security to: mailto:, https: or tel:',
    readers: ['api'],
  },
  SECURITY_POLICY: {
    form: httpUrl,
    unset: 'none is named',
    about: 'address of the page, named in that file, that says what is wanted and what to expect',
    readers: ['api'],
  },
  TRUST_PROXY_HOPS: {
    form: whole(0, 16),
    default: '0',
    about: 'how many reverse proxies stand in front',
    more:
      "A client's address is taken from X-Forwarded-For behind them, and is the limiter's key. 0: the header is " +
      'ignored.',
    readers: ['api', 'graphql'],
  },
  LIMIT_PER_MINUTE: { ...limit, default: String(requestLimits.perMinute) },
  LIMIT_PER_DAY: { ...limit, default: String(requestLimits.perDay) },
  EXPORT_DIR: {
    form: text,
    unset: 'nothing is served there',
    about: 'folder of the files that the API serves under /exports, and that npm run export -- --served writes',
    more: 'A folder of its own; docker-compose.yml has a volume for it.',
    readers: ['api', 'export'],
  },
  STOP_PAUSE_SECONDS: {
    form: seconds(0, 60),
    default: '0',
    about: 'seconds from SIGTERM, when /readyz begins to refuse, to the end of new connections',
    more: 'As long as a load balancer takes to notice. The image sets 5.',
    readers: ['api', 'graphql'],
  },
  SETTLEMENT_OVERLOADS: {
    form: oneOf('spec', 'all'),
    default: 'spec',
    about: 'which authorizations count as settlements in rows, counts and ranks',
    more:
      'spec: the two selectors of the specification; all: the two with bytes signatures too. All of them are stored ' +
      'either way.',
    readers: ['enrichment', 'api'],
  },
  SETTLEMENT_SCOPE: {
    form: oneOf('all', 'verified'),
    default: 'all',
    about: 'whose settlements are kept: of everybody, or of verified addresses alone',
    more:
      'verified: of addresses that an account of the social network has verified; their history is loaded when they ' +
      'become so, and there is nothing to backfill.',
    readers: ['processor', 'backfill'],
  },
  AUDIT_PAUSE_SECONDS: {
    form: seconds(0.1, 86_400),
    default: '60',
    about: 'seconds between audits, at least: what a node told of the head is read again from the archive or Portal',
    readers: ['processor'],
  },
  CLAIM_WINDOW_SECONDS: {
    form: whole(1, 86_400),
    default: String(claimLimits.signedTimeSeconds),
    about: "seconds before and after the server's time that the signed time of a claim may lie",
    readers: ['api'],
  },
  CLAIM_WELL_KNOWN_HOST_LINK: {
    form: oneOf('on', 'off'),
    default: 'on',
    about: 'whether the host of a well-known claim must be linked to the account',
    more: 'on: by something its owner signed or wrote. off: whoever runs a host can claim any account from it.',
    readers: ['api'],
  },
  CLAIM_LAPSE: {
    form: oneOf('on', 'off'),
    default: 'on',
    about: 'whether claims end when what they rest on does',
    more: 'off: only withdrawals end claims.',
    readers: ['enrichment'],
  },
  FACILITATOR_HOSTS: {
    form: oneOf('on', 'off'),
    default: 'on',
    about: 'whether facilitators of the list are asked daily which accounts they send from',
    more: 'off: only the published list names senders.',
    readers: ['enrichment'],
  },
  VERIFICATION_PROOF: {
    form: oneOf('signed', 'stated'),
    default: 'signed',
    about: 'what a verification must be worth to carry a claim: that its signatures hold, or the word of the hub',
    more: 'signed: where RPC_OPTIMISM is set, its key must be one of the account, too.',
    readers: ['api'],
  },
} as const satisfies Record<string, Setting>

const network = {
  HUB_URL: {
    form: hubUrls,
    unset: 'a public hub',
    about: 'HTTP APIs of Farcaster hubs, between commas: the first is followed',
    more:
      'The others, of other operators, are asked whether they know the same messages: what one of them lacks carries no ' +
      'new claim. Unset: a public one, asked gently.',
    readers: ['enrichment', 'api'],
  },
  HUB_GRPC: {
    form: httpUrls,
    unset: 'off',
    about: 'gRPC APIs of such hubs, as http(s) addresses between commas; http is without TLS',
    more:
      'Asked what an account took back when the hubs of HUB_URL disagree: their HTTP APIs do not tell. Unset: nobody is ' +
      'asked, and what they disagree about stays disputed.',
    readers: ['enrichment'],
  },
  HUB_POLL_SECONDS: {
    form: seconds(0.1, 3600),
    default: '30',
    about: "seconds from one reading of the hub's events to the next",
    readers: ['enrichment'],
  },
  COUNTS_PAUSE_SECONDS: {
    form: seconds(0.1, 60), // answers promise counts of a minute ago
    default: '60',
    about: 'seconds from one round of the counts, payers, feedback, rankings and edges to the next',
    readers: ['enrichment'],
  },
  NEYNAR_URL: {
    form: httpUrl,
    default: publicHosts.neynar.url,
    about: 'Neynar finds the accounts of new holders at once, where the hub has to be swept',
    more: 'Without a key it is off.',
    readers: ['enrichment'],
  },
  NEYNAR_API_KEY: {
    form: keyText,
    unset: 'off',
    about: "key of Neynar's API, and of its hub when HUB_URL names that one",
    readers: ['enrichment', 'api'],
  },
} as const satisfies Record<string, Setting>

const documents = {
  IPFS_GATEWAYS: {
    form: httpUrls,
    default: 'https://ipfs.io,https://dweb.link,https://w3s.link',
    about: 'IPFS gateways, tried in this order, between commas',
    readers: ['enrichment'],
  },
  ARWEAVE_URL: {
    form: httpUrl,
    default: 'https://arweave.net',
    about: 'an Arweave gateway',
    readers: ['enrichment'],
  },
  EGRESS_ALLOW: {
    form: egressAllow,
    default: '',
    about: 'hosts that may be asked although they are private or not https, each as host:port, between commas',
    more: 'Nothing else weakens the guard on requests to hosts that agents and claimants name.',
    readers: ['enrichment', 'api'],
  },
} as const satisfies Record<string, Setting>

const upstreams = {
  BLOCKSCOUT_URL: {
    form: httpUrl,
    default: publicHosts.blockscout.url,
    about: "Blockscout's metadata service, for tags of agents' addresses",
    more: 'The public one wants a key: without it the source is off. A host named here is asked without one, too.',
    readers: ['enrichment'],
  },
  BLOCKSCOUT_API_KEY: { form: keyText, unset: 'off', about: "Blockscout's key", readers: ['enrichment'] },
  OLI_URL: {
    form: httpUrl,
    default: publicHosts.oli.url,
    about: 'labels of the Open Labels Initiative',
    more: 'Off without a key, as above.',
    readers: ['enrichment'],
  },
  OLI_API_KEY: {
    form: keyText,
    unset: 'off',
    about: 'key of the Open Labels Initiative',
    readers: ['enrichment'],
  },
  WEB3BIO_URL: {
    form: httpUrl,
    default: publicHosts.web3bio.url,
    about: 'web3.bio, for what agents are elsewhere',
    readers: ['enrichment'],
  },
  WEB3BIO_API_KEY: {
    form: keyText,
    unset: 'none',
    about: 'key of web3.bio, which allows more',
    readers: ['enrichment'],
  },
  GITHUB_URL: {
    form: httpUrl,
    default: publicHosts.github.url,
    about: "GitHub's API, for the accounts that agents name",
    readers: ['enrichment'],
  },
  GITHUB_TOKEN: {
    form: keyText,
    unset: 'none',
    about: 'token of GitHub: 5,000 requests an hour with one, 60 without',
    readers: ['enrichment'],
  },
} as const satisfies Record<string, Setting>

const everywhere = {
  METRICS_PORT: {
    form: port,
    unset: `${processorPort(0)} and up, ${enrichmentPort}, ${exportPort}`,
    about: 'TCP port of health and metrics',
    more: `Unset: processors ${chainNames.map((name, index) => `${processorPort(index)} (${name})`).join(', ')}; enrichment ${enrichmentPort}; export with --every ${exportPort}; the api has them on PORT, graphql on GRAPHQL_PORT. Set, these two have /metrics there alone.`,
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

/** Lines of at most so many characters, broken at blanks. */
export function wrapped(words: string, width: number): string {
  return words.replace(new RegExp(`(?! )(.{1,${width}})(?: |$)`, 'g'), '$1\n').trimEnd()
}

/** All but those of the chains, which chains.file.ts reads. */
export const ofProcesses = { ...database, ...api, ...portalKey, ...network, ...documents, ...upstreams, ...everywhere }
type Table = typeof ofProcesses
type NamesOf<R extends Reader> = { [N in keyof Table]: R extends Table[N]['readers'][number] ? N : never }[keyof Table]
type ValueOf<S extends Setting> = S extends { default: string } ? z.output<S['form']> : z.output<S['form']> | undefined

/** What one reader is told, by the variables' names. */
export type SettingsOf<R extends Reader> = { readonly [N in NamesOf<R>]: ValueOf<Table[N]> }
