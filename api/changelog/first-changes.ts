/** A change of the API that a client can notice. */
export interface ApiChange {
  /** Unique and permanent: the last part of the change's URL. */
  readonly id: string
  /** UTC day of the change: `2026-11-22`. */
  readonly day: string
  readonly kind: 'added' | 'changed' | 'deprecated' | 'removed'
  readonly title: string
  readonly text: string
  /** `operationId`s that the change added. */
  readonly operations: readonly string[]
}

/** What changed for clients up to the middle of 26 November 2026, newest first. */
export const firstChanges: readonly ApiChange[] = [
  {
    id: 'flags-of-no-value',
    day: '2026-11-26',
    kind: 'changed',
    title: 'Payments of no value are neither paid back nor those of a single payer',
    text:
      'Of income, `single_payer` was true and `reciprocal` told of payers where all amounts were zero or in tokens without ' +
      'a dollar figure. Now there has to be some value.',
    operations: [],
  },
  {
    id: 'income-complete-until',
    day: '2026-11-26',
    kind: 'changed',
    title: 'Income is said to be complete no further than its sums are',
    text:
      '`complete_until` of income, of its timeseries, of the income of all agents and of the facilitators could go beyond ' +
      'payments that were summed up while the answer was read and are not in it. Now it does not, and it waits for the ' +
      'payments of an address that the agent gave up until they are out of the sums.',
    operations: [],
  },
  {
    id: 'every-last-message',
    day: '2026-11-26',
    kind: 'changed',
    title: 'The time an agent was last seen moves with every message',
    text:
      'A message of an account less than a minute after the one before did not move `last_seen_at`. Now each poll of ' +
      'the network does, by the newest message in it.',
    operations: [],
  },
  {
    id: 'hosts-of-requests',
    day: '2026-11-26',
    kind: 'changed',
    title: 'Requests that are refused for their Host header count towards the limits',
    text:
      'Such a request under a limit is 400 as before, has the headers `RateLimit` and `RateLimit-Policy`, and counts ' +
      'as one of the minute and the day.',
    operations: [],
  },
  {
    id: 'verified-code-accounts',
    day: '2026-11-26',
    kind: 'changed',
    title: 'A web site verifies an account on GitHub only if a host of it names the agent',
    text:
      '`verified` in `codehost_profiles` was true as well where the account’s web site was one that the agent only named. ' +
      'Now a host of that site has to list a registration of the agent or carry the manifest of a live claim.',
    operations: [],
  },
  {
    id: 'attempts-that-were-made',
    day: '2026-11-26',
    kind: 'changed',
    title: 'The time of a source’s last attempt moves only when the source is asked',
    text:
      'The five `last_*_at` of a profile, and `last_attempt_at` of an explanation and in `directory.sources`, moved ' +
      'as well when a source’s turn came while its host was not to be asked: it had asked to wait, was out of order, ' +
      'was a hub that is not believed, or the service was about to stop. Now they stay.',
    operations: [],
  },
  {
    id: 'manifests-known-again',
    day: '2026-11-26',
    kind: 'changed',
    title: 'A manifest that was accepted is the same claim, whatever it says by now',
    text:
      'A claim or withdrawal with a manifest that was accepted before is 409 `ERR_NONCE_USED` with `replay` and ' +
      '`original` as well where the manifest names another nonce, its time is out of the window, or its addresses or ' +
      'link hold no more. Such were refused for that instead.',
    operations: [],
  },
  {
    id: 'q-without-operators',
    day: '2026-11-26',
    kind: 'changed',
    title: 'A text that is looked for in the list has no operators',
    text:
      'In `q` of /api/discovery and its facets `-`, `or` and quotes are letters of the text, as documented: `-maps` ' +
      'found everybody without that word. /api/search has its operators as before.',
    operations: [],
  },
  {
    id: 'former-owners-and-strangers',
    day: '2026-11-26',
    kind: 'changed',
    title: 'What strangers sent, and what former owners left, counts for less',
    text:
      'Registrations that a stranger sent name no documents, accounts or edges of their holder, and feedback on them ' +
      'does not judge it, until the holder sets something. After an account changed hands its profile links no host for a claim by `well-known`, a registration ' +
      'only when an address of the manifest holds it, and an auth address only when it was added since.',
    operations: [],
  },
  {
    id: 'unlisted-elsewhere',
    day: '2026-11-26',
    kind: 'changed',
    title: 'An account that took itself out is named nowhere',
    text:
      'Events of an account that took itself out give no handle, `to_fid` of former holders does not name it, ' +
      '`directory.holdings`, in GraphQL too, has none of its rows, the challenge shows none of its addresses, and a ' +
      'refresh of it is 404.',
    operations: [],
  },
  {
    id: 'parameters-as-documented',
    day: '2026-11-26',
    kind: 'changed',
    title: 'Repeated, long and impossible parameters are read as documented',
    text:
      'The first of a repeated `dry_run` counts. A long list of FIDs or fields is read whole. A time on a day that does ' +
      'not exist matches nothing. A walk through the settlements of the last 31 days can be followed to its end.',
    operations: [],
  },
  {
    id: 'facets-of-fewer',
    day: '2026-11-25',
    kind: 'changed',
    title: 'Facets of the list are counted over fewer agents',
    text:
      'Where more agents fit the filters, `/api/discovery/facets` counts fewer of those listed last than before, and the ' +
      'answer comes in half the time. `counted` and `complete` say so, as before.',
    operations: ['countFacets'],
  },
  {
    id: 'shorter-feedback-pages',
    day: '2026-11-25',
    kind: 'changed',
    title: 'A filtered page of feedback looks at half as many',
    text:
      'Behind a filter a page of an agent’s feedback may be shorter than before, so that it comes in time; `next_cursor` ' +
      'leads on as before. The summary of an agent with very much feedback is some minutes old from half as much on.',
    operations: ['listFeedback'],
  },
  {
    id: 'payers-of-the-busy',
    day: '2026-11-23',
    kind: 'changed',
    title: 'Payers of busy agents in the leaderboard are a minute old',
    text:
      'The leaderboard’s `unique_payers` of agents with many settlements is that of the last count, a minute ago, from ' +
      'fewer settlements on than before, so that the answer comes sooner. All other figures are of the moment.',
    operations: ['getLeaderboard'],
  },
  {
    id: 'shorter-income-files',
    day: '2026-11-23',
    kind: 'changed',
    title: 'Files of income hold half as many payments',
    text:
      'An agent’s `income.csv` holds half as many payments as before, so that it comes in time whatever else is asked. ' +
      'More are refused with 400, as before: narrow `since` and `until`, or page through /income/payments.',
    operations: ['getIncomeCsv'],
  },
  {
    id: 'registrations-in-words',
    day: '2026-11-23',
    kind: 'changed',
    title: 'Explanations and errors call things by their names',
    text:
      'What an explanation says in `summary`, `found` and `next` calls an ERC-8004 identity a registration, no token; titles ' +
      'of errors likewise say what they are about. Nearly every field has its meaning in the OpenAPI document. No field, ' +
      'code or form changed.',
    operations: [],
  },
  {
    id: 'archived-settlements',
    day: '2026-11-22',
    kind: 'added',
    title: 'Lists say since when settlements are there',
    text:
      'Where an operator has archived old settlements, lists of them and of income have `available_since`, and /api/coverage ' +
      'says `archived`: the rows are in the files under /exports, which have `selector_source` now. Counts have them as ' +
      'before; payers of a point of the timeseries may be null.',
    operations: [],
  },
  {
    id: 'rings-of-every-kind',
    day: '2026-11-22',
    kind: 'changed',
    title: 'Rings and pay-backs of every kind of payment, payments in certificates of audits',
    text:
      'The flags `ring` and `reciprocal` of income see money that forwarders passed on and that Permit2 moved, too. ' +
      '`/api/coverage` tells `payments` and `payment_checksum` of what was audited from now on.',
    operations: [],
  },
  {
    id: 'declared-prices',
    day: '2026-11-22',
    kind: 'added',
    title: 'What agents say that they ask for',
    text:
      'Prices from the documents on an agent’s hosts and from what its endpoints answer with 402, as they are declared ' +
      '(`directory.prices` in SQL). Nobody checked them, and none is counted as income.',
    operations: ['getPrices'],
  },
  {
    id: 'facets-of-search',
    day: '2026-11-22',
    kind: 'added',
    title: 'Facets of a search, removed keys in proofs, payers of busy agents',
    text:
      '`of=search` of the facets counts what a search finds. A proof shows what removed an app key (`key_remove`). ' +
      '`unique_payers` of days, weeks and months that are over is told of the busiest agents, too.',
    operations: [],
  },
  {
    id: 'income-evidence',
    day: '2026-11-22',
    kind: 'added',
    title: 'Income by earlier wallets, and builder codes',
    text:
      'An agent’s income has what wallets earned that its registrations named before (`until` in its addresses), and a ' +
      'payment the builder codes at the end of its calldata (`builder_codes`), which are evidence of x402 too.',
    operations: [],
  },
  {
    id: 'settlement-stream',
    day: '2026-11-22',
    kind: 'added',
    title: 'Settlements as they come, and what is usually paid',
    text:
      'Everybody’s settlements as server-sent events, and the amount in the middle (median_usdc) in each point of the ' +
      'series of settlements.',
    operations: ['followSettlements'],
  },
  {
    id: 'exports',
    day: '2026-11-22',
    kind: 'added',
    title: 'Served files',
    text:
      'Everything as files under /exports: Parquet by chain and day, snapshots of state, whole profiles to begin a mirror ' +
      'with. /exports/manifest.json names them; they are not counted by the limits of requests.',
    operations: [],
  },
  {
    id: 'agent-feed',
    day: '2026-11-22',
    kind: 'added',
    title: 'The feed of one agent',
    text: 'What happens to an agent as an Atom feed, beside its page, is part of the reference now.',
    operations: ['getAgentFeed'],
  },
  {
    id: 'rankings',
    day: '2026-11-22',
    kind: 'added',
    title: 'More leaderboards',
    text:
      'By volume and by payers, on one chain, without what agents paid themselves, and with how ranks have changed in ' +
      '1, 7 or 30 days.',
    operations: [],
  },
  {
    id: 'facets',
    day: '2026-11-22',
    kind: 'added',
    title: 'Filters with counts',
    text:
      'Agents by protocol, skill, whether they answer and whether they were paid lately, in the list and in the search, ' +
      'which also knows transactions and registrations (base 123); how many each value of a filter would leave.',
    operations: ['countFacets'],
  },
  {
    id: 'feedback',
    day: '2026-11-22',
    kind: 'added',
    title: 'Feedback, and who gave it',
    text:
      'Feedback on the registrations of an agent: by itself, by other agents and accounts or by strangers, by those who ' +
      'had paid before, and what it answered. Profiles have a summary.',
    operations: ['listFeedback'],
  },
  {
    id: 'growth',
    day: '2026-11-22',
    kind: 'added',
    title: 'Growth',
    text: 'New agents and first claims by hour, day, week or month.',
    operations: ['getGrowth'],
  },
  {
    id: 'events',
    day: '2026-11-22',
    kind: 'added',
    title: 'Events as a feed with archives',
    text: 'What became of agents, one entry an event, with everything from the beginning in archives (RFC 5005).',
    operations: ['getEventsFeed', 'getEventsArchive'],
  },
  {
    id: 'log-stream',
    day: '2026-11-22',
    kind: 'added',
    title: 'The log, as it grows',
    text: 'Changed profiles as server-sent events, resumable by Last-Event-ID.',
    operations: ['followLog'],
  },
  {
    id: 'badges',
    day: '2026-11-22',
    kind: 'added',
    title: 'Badges',
    text: 'An agent’s standing as an image for a page of its own, and in the form that shields.io takes.',
    operations: ['getBadge', 'getBadgeEndpoint'],
  },
  {
    id: 'changelog',
    day: '2026-11-22',
    kind: 'added',
    title: 'A changelog, and a promise',
    text:
      'This list, as a page and as a feed. Fields and requests may be added at any time; what is taken away is ' +
      'announced here and by the headers Deprecation and Sunset at least twelve months before.',
    operations: ['getApiFeed'],
  },
  {
    id: 'errors',
    day: '2026-11-22',
    kind: 'added',
    title: 'Errors explained',
    text:
      'Every code with its status, its fields and whether to ask again. Who accepts application/problem+json and ' +
      'nothing else gets errors as problem details (RFC 9457).',
    operations: ['listErrors', 'getError'],
  },
  {
    id: 'search',
    day: '2026-11-22',
    kind: 'added',
    title: 'Search',
    text: 'Agents by words of their names, skills and descriptions, best first, with the places they were found at.',
    operations: ['searchAgents'],
  },
  {
    id: 'time',
    day: '2026-11-22',
    kind: 'added',
    title: 'Series and the past',
    text: 'Settlements by hour, day, week or month; who held what, and which addresses were whose, at a time.',
    operations: ['getAgentTimeseries', 'getTimeseries', 'getAgentState', 'getAddressOwners', 'getAddressPortfolio'],
  },
  {
    id: 'cursors',
    day: '2026-11-22',
    kind: 'added',
    title: 'Reading on',
    text:
      'Lists go on by `cursor`, whose next one is in the header Link. Everybody’s settlements by payer, recipient, ' +
      'facilitator or transaction; several profiles at once; all registrations of an agent; all agents as a feed in pages.',
    operations: ['listAllSettlements', 'getAgents', 'listRegistrations', 'getAgentsFeed'],
  },
  {
    id: 'mcp',
    day: '2026-11-22',
    kind: 'added',
    title: 'Model Context Protocol',
    text: 'The reads of the API as tools and resources of a server at /mcp.',
    operations: [],
  },
  {
    id: 'claim-life',
    day: '2026-11-22',
    kind: 'added',
    title: 'The life of a claim',
    text: 'Claims can be withdrawn and checked by anybody; owners can take an agent out of the directory and back.',
    operations: ['getClaimProof', 'listAddresses', 'withdrawClaims', 'unlistAgent', 'relistAgent', 'refreshAgent'],
  },
  {
    id: 'first',
    day: '2026-11-20',
    kind: 'added',
    title: 'First version',
    text: 'Profiles, settlements, discovery, the leaderboard, the feed, the bulk file, the log of changes and claims.',
    operations: [],
  },
]
