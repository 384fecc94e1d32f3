// Every limit that a client of the service can meet, each once: code, errors, OpenAPI, pages and the tables of
// docs/rules.md take it from here, from limits.claims.ts and from limits.protocols.ts. How long a response may be cached is
// set in its route.

/** Bounds of a list's `limit` parameter, in rows; `fallback` is its value when it is absent. */
interface Rows {
  readonly minimum: number
  readonly maximum: number
  readonly fallback: number
}

/** Rate limits, in requests per client. The first two are the defaults of LIMIT_PER_MINUTE and LIMIT_PER_DAY. */
export const requestLimits = {
  perMinute: 60,
  /** Requests per UTC day. */
  perDay: 2_000,
  /** Pages, agents' feeds and sitemaps; they do not count towards `perMinute` and `perDay`. */
  pagesPerMinute: 120,
  /** Pictures of agents on pages; they do not count towards the other limits. */
  picturesPerMinute: 1_200,
  /** Retry-After of the API's ERR_RATE_LIMIT, whatever is left of the minute; pages answer with what is left. */
  retrySeconds: 60,
  /** Retry-After while requests cannot be counted. */
  uncountedRetrySeconds: 5,
  /** Request line and headers together. */
  headerBytes: 16_384,
  /** Time within which a request has to arrive whole. */
  arrivalSeconds: 10,
} as const

export const rowLimits = {
  settlements: { minimum: 1, maximum: 100, fallback: 20 },
  registrations: { minimum: 1, maximum: 100, fallback: 20 },
  feedback: { minimum: 1, maximum: 100, fallback: 20 },
  events: { minimum: 1, maximum: 100, fallback: 100 },
  discovery: { minimum: 10, maximum: 100, fallback: 30 },
  leaderboard: { minimum: 1, maximum: 100, fallback: 10 },
  search: { minimum: 1, maximum: 100, fallback: 20 },
  log: { minimum: 1, maximum: 1_000, fallback: 1_000 },
} as const satisfies Record<string, Rows>

/** Limits of the proxy for agents' pictures, through which pages show them. */
export const pictureLimits = {
  /** Bytes of one picture, and of all pictures cached in memory. */
  bytes: 512 * 1024,
  keptBytes: 64 * 1024 * 1024,
  /** How long a picture is cached, and how long one that could not be fetched is not tried again. */
  keptSeconds: 21_600,
  brokenSeconds: 600,
  /** Concurrent fetches over all hosts; beyond it a request gets the agent's initial instead. */
  atOnce: 24,
} as const

/** Limits of the income routes, and the marks of payments. */
export const incomeLimits = {
  /** Payments in one CSV file; a request for more is refused. */
  csvLines: 10_000,
  /** Amount in base units below which a payment is dust: a thousandth of a dollar. */
  dustBelow: 1_000,
  /** A payer counts as the single one from this share of the value on, if there is any, and at least so many payments. */
  singlePayer: { share: 0.95, payments: 20 },
  /** Money, if it was any, counts as paid back when at least this share goes the other way within so many days. */
  paidBack: { share: 0.5, days: 30 },
} as const

/** Limits of query parameters. */
export const queryLimits = {
  /** Characters of `q`, the search words. */
  characters: 100,
  /** Values of one filter, such as skills, and characters of each. */
  names: 20,
  nameCharacters: 100,
  /** Characters of a cursor. */
  cursorCharacters: 600,
  /** Largest `page`; a larger one is lowered to it, so that the offset stays a safe integer. No list is that long. */
  lastPage: 1_000_000,
  /** Agents in one request to /api/agents. */
  batch: 100,
} as const

/** Limits of time series, searches and answers about a moment in the past. */
export const readingLimits = {
  /** Points of a time series; where there would be more, a coarser interval is used. */
  points: 1_000,
  /** Points of a time series whose beginning is not given. */
  usualPoints: 30,
  /** Days that /api/settlements reaches back for a request that names no FID, address or transaction. */
  settlementDays: 31,
  /** Settlements in a series' window up to which distinct payers are counted while the client waits. */
  payerSettlements: 20_000,
  /** Hits of a search that can be paged through. */
  hits: 200,
  /** Agents over which facets are counted: so many that pass all filters, and so many that fail one. And skills listed. */
  facetAgents: 2_000,
  facetSkills: 12,
  /**
   * Registrations that a page of all of them looks at along its order; where these do not fill it, up to so many that
   * match are looked up.
   */
  registrationsWalked: 4_000,
  registrationsMatched: 5_000,
  /** Those that it looks at where each is looked up for an operator of very many holders. */
  registrationsLookedUp: 1_500,
  /** Entries of metadata by which a registration is found, the first by key. */
  metadataSearched: 200,
  /** Feedback of a registration, the newest, by whose clients, tags and mean value it is found. */
  feedbackSearched: 1_000,
  /** Registrations received by an address that are examined to find what it held at a moment. */
  receivedRegistrations: 5_000,
  /** Registrations of an agent that `GET /api/agent/{fid}/control` covers. */
  controlRegistrations: 100,
  /** Operators listed per owner and chain; operators examined per owner; events searched for them, newest first. */
  controlOperators: 100,
  operatorsNamed: 1_000,
  operatorEvents: 1_000,
  /** Owners and modules listed per Safe; claimed names that are checked for a record pointing back. */
  safeOwners: 20,
  /** Bytes of a contract's answer that are decoded: 250 addresses. */
  contractAnswerBytes: 8_192,
  claimedNames: 3,
  /** Operators of one filter that are looked up by who named them, and holders for which one acts when it is. */
  operatorsLooked: 10,
  operatorHolders: 100,
  /** Accounts that verify or verified an address and are examined for it, the earliest ones. */
  verifiers: 1_000,
  /** Registrations in a portfolio, and agents in each of its two lists. */
  portfolioRegistrations: 1_000,
  portfolioAgents: 100,
  /** Agents stored per ranking, and days for which the first ranking of the day is kept. */
  ranks: 1_000,
  rankingDays: 100,
} as const

/** How much of one agent or one address an answer holds; the rest can be paged through where there is a list of it. */
export const profileLimits = {
  /** Registrations held now, and as many holdings that have ended. */
  registrations: 200,
  edges: 100,
  /** Documents stored of an agent, of all its hosts. */
  documents: 200,
  /** Prices stored from one document, or from one 402 response. */
  pricesOfDocument: 20,
  /** Descriptions of what it sells, stored from either. */
  resourcesOfDocument: 20,
  /** Feedback on an agent's registrations above which it is counted in the background. */
  feedbackCountedAtOnce: 500,
  /** Tags of feedback in a profile. */
  feedbackTags: 10,
  /** Characters of a shown tag, and of a URI of feedback; a longer URI is left out. */
  feedbackTagCharacters: 100,
  feedbackUriCharacters: 2_048,
  /** Responses to one feedback. */
  responsesCounted: 100,
  /** Feedback of one registration that a filtered page examines; the page may have fewer rows than asked for. */
  feedbackLookedAt: 500,
  /** Bytes of a registration's URI in a profile; a longer URI is left out. */
  uriBytes: 8_192,
  /** Bytes of all URIs on one page of registrations; the page ends with the row that reaches it. */
  pageUriBytes: 4 * 1024 * 1024,
  /** Registrations on one page of an address without an agent; platforms that hold a whole collection have many more. */
  registrationsOfAddress: 10_000,
  /** What keeps callers or buyers from an agent. */
  findings: 200,
  /** Verifications that an explanation names. */
  verifications: 100,
} as const

export const documentLimits = {
  /** Agents in /data/agents.json. */
  bulkAgents: 5_000,
  /** Entries in the feed of the newest agents, and in the feed of one agent. */
  feedEntries: 30,
  /** Entries on one page of the paged feed of all agents. */
  feedPageEntries: 100,
  /** Deleted entries in the feed of all agents: agents that left the index in so many days, and how many of them. */
  tombstoneDays: 30,
  tombstones: 100,
  /** Events per archive document of the events feed. Published archives are immutable, so this never changes. */
  archiveEvents: 100,
  /** Code points of a bio in a feed. */
  bioCharacters: 280,
  /** Lines in one response of the log of changes. */
  changeLines: 1_000,
  /** Days for which every change of an agent is kept; of older ones only each agent's newest is. */
  changeDays: 30,
  /** Bytes of one response of the log: it ends with the batch of at most fifty lines that reaches them. */
  logBytes: 8 * 1024 * 1024,
} as const

/** Limits of the uptime of documents on agents' hosts. */
export const uptimeLimits = {
  /** UTC days in an answer, today included; days older than the maximum are deleted. */
  days: { minimum: 1, maximum: 90, fallback: 30 },
  /** Days for which single checks are kept; before them only daily counts are. */
  checkDays: 7,
  /** Fewest checks from which an uptime is computed; with fewer it is null. */
  fewestChecks: 5,
} as const

/** Limits of streams of server-sent events. */
export const streamLimits = {
  /** Streams open at once: per client, and per process. */
  ofClient: 2,
  ofProcess: 500,
  /** The server ends a stream after a random time between the two; the client reconnects and resumes. */
  lastSeconds: { least: 900, most: 1_800 },
  /** A heartbeat is sent after so many seconds without an event, at most one second later. */
  heartbeatSeconds: 15,
  /** Bytes that may wait for a slow client, and how long they may be more before the stream is ended. */
  unsentBytes: 256 * 1024,
  drainSeconds: 30,
  /** Sequence numbers behind the newest from which a stream may begin at most. */
  replay: 10_000,
  /** Age in seconds up to which a settlement is sent by the stream of all settlements: what is older is no news. */
  newsSeconds: 600,
  /** Lines read at once. */
  pageLines: 50,
  /** Settlements that a stream sends after one look at the database: the newest. */
  seenAtOnce: 100,
  /** Interval at which the log is polled for new lines, in milliseconds. */
  lookMs: 1_000,
  /** `retry:` of a stream, the reconnection time in milliseconds; Retry-After of a refused stream, in seconds. */
  retryMs: 5_000,
  retrySeconds: 60,
} as const

/** Limits of files under /exports, which no rate limit counts: a query over Parquet makes tens of requests. */
export const exportLimits = {
  /** Concurrent downloads: per client, and per process. */
  ofClient: 32,
  ofProcess: 256,
  /** A client that was refused is told to wait so long, in seconds. */
  retrySeconds: 5,
} as const

/** Limits of cards, the pictures that link previews show; they are rendered one at a time. */
export const cardLimits = {
  /** Concurrent requests for cards: per client, and per process. */
  ofClient: 8,
  ofProcess: 20,
  /** A client that was refused is told to wait so long, in seconds. */
  retrySeconds: 5,
} as const

/** Limits of the coverage of one chain. */
export const coverageLimits = {
  /** Ranges, gaps and certificates listed, of each: those of the newest blocks. */
  members: 200,
} as const

/** Work that one document of an agent, or one demand for payment, may cause; what lies beyond is not looked at. */
export const documentWork = {
  /** Things for sale and ways to pay for them, each with what holds for it. */
  places: 2_000,
  /** Characters of a JSON Schema, and of a value held against it; steps through both; levels; characters of a reference in it. */
  schemaCharacters: 65_536,
  schemaSteps: 10_000,
  schemaLevels: 32,
  referenceCharacters: 256,
} as const

/** A number with thousands separators: `5,000`. */
export const grouped = (count: number) => count.toLocaleString('en-US')
