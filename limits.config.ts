// Every number that somebody who asks the service can meet, each once: code, errors, OpenAPI, pages and the tables of
// docs/rules.md take it from here. How long an answer may be cached stands with its route.

/** What `limit` of a list may be, and what it is when it is not given. */
interface Rows {
  readonly minimum: number
  readonly maximum: number
  readonly fallback: number
}

/** Requests of one client. The first two are defaults of LIMIT_PER_MINUTE and LIMIT_PER_DAY. */
export const requestLimits = {
  perMinute: 60,
  /** Of a UTC day. */
  perDay: 2_000,
  /** Pages, agents' feeds and sitemaps, counted apart. */
  pagesPerMinute: 120,
  /** Pictures of agents on pages, counted apart. */
  picturesPerMinute: 1_200,
} as const

export const rowLimits = {
  settlements: { minimum: 1, maximum: 100, fallback: 20 },
  registrations: { minimum: 1, maximum: 100, fallback: 20 },
  feedback: { minimum: 1, maximum: 100, fallback: 20 },
  discovery: { minimum: 10, maximum: 100, fallback: 30 },
  leaderboard: { minimum: 1, maximum: 100, fallback: 10 },
  search: { minimum: 1, maximum: 100, fallback: 20 },
  log: { minimum: 1, maximum: 1_000, fallback: 1_000 },
} as const satisfies Record<string, Rows>

/** Of pictures of agents, which pages show from here. */
export const pictureLimits = {
  /** Of one picture, and of all that are kept in memory. */
  bytes: 512 * 1024,
  keptBytes: 64 * 1024 * 1024,
  /** How long one is kept, and how long one that is broken is not asked for again. */
  keptSeconds: 21_600,
  brokenSeconds: 600,
  /** Fetched at once, of all hosts; whoever comes then is shown a letter. */
  atOnce: 24,
} as const

/** Of income. */
export const incomeLimits = {
  /** Payments of one file for bookkeeping; more are refused. */
  csvLines: 10_000,
} as const

/** What a query may hold. */
export const queryLimits = {
  /** Characters of `q`. */
  characters: 100,
  /** Names of one filter, and characters of a name. */
  names: 20,
  nameCharacters: 100,
  /** Characters of a cursor. */
  cursorCharacters: 600,
  /** Pages beyond are cut to it: the offset stays an exact number, and no list is that long. */
  lastPage: 1_000_000,
  /** Agents of one request for several. */
  batch: 100,
  /** Characters of a list between commas that are read; a hundred addresses take 4,300. */
  listCharacters: 12_000,
} as const

/** Of series, searches and moments in the past. */
export const readingLimits = {
  /** Points of a series; beyond it is coarser. */
  points: 1_000,
  /** Settlements of a series' window up to which its payers are told apart. */
  payerSettlements: 20_000,
  /** Hits of a search that there are pages of. */
  hits: 200,
  /** Agents that facets are counted of: that fit all filters, and as many that all but one leave. Skills they name. */
  facetAgents: 5_000,
  facetSkills: 12,
  /** Registrations an address received that are looked at for what it held when. */
  receivedRegistrations: 5_000,
  /** Of a portfolio: registrations, and agents of either list. */
  portfolioRegistrations: 1_000,
  portfolioAgents: 100,
  /** Agents that are kept of a ranking, and days whose first ranking is remembered. */
  ranks: 1_000,
  rankingDays: 100,
} as const

/** What is shown of one agent or one address; the rest is read in pages where there are some. */
export const profileLimits = {
  /** Registrations held now; and, counted apart, holdings that ended. */
  registrations: 200,
  edges: 100,
  /** Prices that are kept of one document, or of one demand for payment. */
  pricesOfDocument: 20,
  /** Settlements to an agent's addresses, of any kind, above which its payers are counted while nobody waits. */
  payersCountedAtOnce: 300,
  /** Feedback on an agent's registrations above which it is counted while nobody waits. */
  feedbackCountedAtOnce: 500,
  /** Tags of feedback in a profile. */
  feedbackTags: 10,
  /** Responses to one feedback. */
  responsesCounted: 100,
  /** Feedback of one registration that a page with a filter looks at; the page may have fewer rows than asked for. */
  feedbackLookedAt: 500,
  /** Of a URI within a profile. */
  uriBytes: 8_192,
  /** Of the URIs of one page of registrations together: the page ends with the one that reaches it. */
  pageUriBytes: 4 * 1024 * 1024,
  /** Registrations of an address without an agent; platforms that hold a whole collection have many more. */
  registrationsOfAddress: 10_000,
  /** Verifications that an explanation names. */
  verifications: 100,
} as const

export const documentLimits = {
  /** Agents of the bulk file. */
  bulkAgents: 5_000,
  /** Entries of a feed of agents, and of the feed of one agent. */
  feedEntries: 30,
  /** Entries of a page of the feed of all agents. */
  feedPageEntries: 100,
  /** That feed names the agents that left the index within so many days, the last of them. */
  tombstoneDays: 30,
  tombstones: 100,
  /** Events of an archive of their feed: once it is published it is what it is, so this never changes. */
  archiveEvents: 100,
  /** Code points of a bio in a feed. */
  bioCharacters: 280,
  /** Lines of one answer of the log of changes. */
  changeLines: 1_000,
  /** Of one answer of the log: it ends with the part of it that reaches them, at most fifty lines further. */
  logBytes: 8 * 1024 * 1024,
} as const

/** Of the checks of documents on agents' hosts. */
export const uptimeLimits = {
  /** UTC days that an answer has, today's included; those before the most are forgotten. */
  days: { minimum: 1, maximum: 90, fallback: 30 },
  /** Days for which each check is kept by itself. */
  checkDays: 7,
  /** With fewer checks an uptime is not known. */
  fewestChecks: 5,
} as const

/** Of streams of events. */
export const streamLimits = {
  /** Open at once: of one client, and of all of a process. */
  ofClient: 2,
  ofProcess: 500,
  /** The server ends a stream after a time between the two, at random; its client goes on where it was. */
  lastSeconds: { least: 900, most: 1_800 },
  /** Silence is broken after so many seconds, at most one later. */
  heartbeatSeconds: 15,
  /** What a client has not taken yet, in bytes, and how long it may be more. */
  unsentBytes: 256 * 1024,
  drainSeconds: 30,
  /** A stream begins so many numbers behind the newest at most. */
  replay: 10_000,
  /** Lines read at once. */
  pageLines: 50,
  /** Settlements of one look that a stream of them tells of: the newest. */
  seenAtOnce: 100,
  /** How often the log is asked for news, in milliseconds. */
  lookMs: 1_000,
  /** A client is told to wait so long before it connects again, in milliseconds; one that was refused, in seconds. */
  retryMs: 5_000,
  retrySeconds: 60,
} as const

/** Of files under /exports, which are not metered: a query over Parquet makes tens of requests. */
export const exportLimits = {
  /** Answers under way at once: of one client, and of all of a process. */
  ofClient: 32,
  ofProcess: 256,
  /** A client that was refused is told to wait so long, in seconds. */
  retrySeconds: 5,
} as const

/** Of cards, the pictures that link previews show: one is painted at a time. */
export const cardLimits = {
  /** Asked for at once: by one client, and by all of a process. */
  ofClient: 8,
  ofProcess: 20,
  /** A client that was refused is told to wait so long, in seconds. */
  retrySeconds: 5,
} as const

/** Of what is said of one chain. */
export const coverageLimits = {
  /** Ranges, gaps, certificates: those of the newest blocks. */
  members: 200,
} as const

export const claimLimits = {
  bodyBytes: 16 * 1024,
  /** Attempts that pass the cheap checks: of a client; fetches from a host, for one client and for all. */
  attempts: { client: 10, 'client and host': 6, host: 60 },
  /** They are counted in windows that begin with the first of them. */
  attemptSeconds: 600,
  /** From an accepted claim until its proof is public: nobody can use it elsewhere any more. */
  proofWaitSeconds: 900,
  /** Questions to the network about an account that anybody may ask for. */
  refreshes: { fid: { attempts: 1, seconds: 60 }, client: { attempts: 10, seconds: 600 } },
  /** Claims of a FID that are accepted on one UTC day. */
  acceptedPerDay: 20,
  /** Seconds before and after the server's time; the default of CLAIM_WINDOW_SECONDS. */
  signedTimeSeconds: 900,
  nonceCharacters: { least: 8, most: 64 },
  /** As much as the network takes; those of passkey wallets have about 1 KiB. */
  signatureBytes: 2_048,
  manifestAddresses: 25,
  manifestBytes: 64 * 1024,
  /** Characters of each part of a signature over a domain. */
  associationCharacters: 4_096,
} as const

/** Of MCP, besides those of the routes that its tools ask. */
export const mcpLimits = {
  /** One call, with arguments as long as an address may be. */
  requestBytes: 65_536,
  /** Of a list: what a model reads costs its user by the word. */
  rows: { fallback: 10, maximum: 50 },
  /** Of a tool: it is sent twice, as text and as values. */
  answerBytes: 524_288,
} as const

export const graphqlLimits = {
  requestBytes: 20_000,
  /** Words and signs of a document; GraphiQL's own question about the schema has 500. */
  tokens: 2_000,
  /** Rows of one connection; each has to say how many it wants. */
  pageSize: 100,
  /** Rows skipped: those further in are reached by cursor. */
  offset: 10_000,
  /** Fields that an answer may hold, were every page full, and what is scanned for them. */
  cost: 20_000,
  /** Fields that an answer about the schema may hold, with lists as long as they usually are. */
  introspectionCost: 1_000_000,
  /** Selections within each other; introspection needs more, to see through lists of required types. */
  depth: 10,
  introspectionDepth: 16,
} as const

/** `5,000` */
export const grouped = (count: number) => count.toLocaleString('en-US')
