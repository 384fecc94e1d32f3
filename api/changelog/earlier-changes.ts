import { type ApiChange, firstChanges } from './first-changes.ts'

/** What changed for clients before the changes of `changes.ts`, newest first. */
export const earlierChanges: readonly ApiChange[] = [
  {
    id: 'all-of-a-portfolio',
    day: '2026-11-28',
    kind: 'added',
    title: 'All registrations of a portfolio, and one form of a signature',
    text:
      'The portfolio of an address ended at 1,000 registrations; `next_cursor` and `Link` lead to the next page. A signature ' +
      'of custody or auth is taken in 64 bytes, too, and is the same proof in each form that wallets write it in. Where ' +
      'claims do not lapse, a removed key does not make a refresh `changed`.',
    operations: ['getAddressPortfolio', 'withdrawClaims', 'refreshAgent'],
  },
  {
    id: 'empty-files',
    day: '2026-11-28',
    kind: 'changed',
    title: 'A served dataset without rows has a file with its columns',
    text:
      'A snapshot of a dataset without rows had no file under /exports/, so a query over it failed. It has one file with ' +
      'the columns and their types now. `npm run export -- --format parquet` has the types of the served files: dollars ' +
      'are DECIMAL(18,6), and times have a zone.',
    operations: [],
  },
  {
    id: 'alive-is-one-rule',
    day: '2026-11-28',
    kind: 'changed',
    title: 'A declared document that asks for payment is alive for filters, too',
    text:
      '`alive` of /api/discovery and its facet left out documents of registrations that ask for payment or a name and were ' +
      'never read, which the uptime and the pages counted as alive. The order of the checks of a claim is in its description.',
    operations: ['listAgents', 'countFacets', 'claim'],
  },
  {
    id: 'times-nobody-said',
    day: '2026-11-28',
    kind: 'changed',
    title: 'A time of verification that nobody has said is null',
    text:
      'A hub’s list of addresses has no times, and 2021-01-01 stood for them. `verified_at` is null instead, and so is ' +
      '`from` of /state and /owners; such a verification is last in every order by time, and `as_of` finds the address ' +
      'with nobody before it was seen first. In SQL, `directory.addresses.counts_from` says since when it counts.',
    operations: ['listAddresses', 'explainAgent', 'explainByAddress', 'getAgentState', 'getAddressOwners'],
  },
  {
    id: 'passed-on-unsolicited',
    day: '2026-11-28',
    kind: 'changed',
    title: 'Passing a registration on between own addresses does not make it asked for',
    text:
      '`unsolicited` was false of a registration that a stranger had sent once it was passed on to another address of the ' +
      'same agent. It stays true until something is set, and such a registration links no host to a claim.',
    operations: ['getAgent', 'listRegistrations'],
  },
  {
    id: 'handles-proven',
    day: '2026-11-28',
    kind: 'added',
    title: 'Profiles say who stands behind a handle',
    text:
      '`handle_assurance`: proven, when the name server signed the handle for the address that has custody of the account; ' +
      'signed, when it did for a verified address, or another hub says the same; stated, when one hub alone says so.',
    operations: ['getAgent', 'getAgents'],
  },
  {
    id: 'history-in-pages',
    day: '2026-11-28',
    kind: 'changed',
    title: 'A proof has the newest events; all of them are in pages',
    text:
      '`history` of a proof has the newest 100 events, and the first and last of its claim where they are older: with all ' +
      'of them, proofs grew until `verify-proof` refused them. The whole history is at /api/agent/{fid}/proof/history.',
    operations: ['getClaimProof', 'listClaimEvents'],
  },
  {
    id: 'proofs-that-prove',
    day: '2026-11-28',
    kind: 'changed',
    title: 'Proofs carry the evidence of every part, and are public later',
    text:
      'A proof has what links a host, with its evidence (`host_link` is an object), chain and contract at the log of a key ' +
      '(`add`, `remove`), and what was signed to withdraw (`ended.statement`); events have its digest. What was signed is ' +
      'public 15 minutes after it came and after the time that it names. A JSON Farcaster Signature with an unknown field ' +
      'is refused. `verify-proof` says of each thing that must be true whether anybody but the service confirms it, and ' +
      'exits 0 only if that is so of all.',
    operations: ['getClaimProof', 'claim', 'withdrawClaims'],
  },
  {
    id: 'refresh-unchanged',
    day: '2026-11-28',
    kind: 'changed',
    title: 'A refresh says changed only of what will be shown',
    text:
      '`changed` no longer comes again and again while hubs disagree, or a claim is suspended for another reason than its ' +
      'key: such accounts are read again, and the outcome is `unchanged`.',
    operations: ['refreshAgent'],
  },
  {
    id: 'solana-addresses',
    day: '2026-11-28',
    kind: 'added',
    title: 'Verified addresses of Solana are shown',
    text:
      '/api/agent/{fid}/addresses lists them behind the others, with `indexed: false`: as the account verified them, ' +
      'unchecked, and joined to nothing. All addresses have the field.',
    operations: ['listAddresses'],
  },
  {
    id: 'followed-hub',
    day: '2026-11-28',
    kind: 'added',
    title: 'Another hub takes over when the first one fails',
    text:
      'While the first hub of an installation is behind, not believed or silent, the next one whose events agree with what ' +
      'was read is followed. `hub` of /api/stats says which one that is, since when, and whether it is believed.',
    operations: ['getStats'],
  },
  {
    id: 'mcp-to-the-letter',
    day: '2026-11-28',
    kind: 'changed',
    title: 'MCP takes every Accept, and refuses arguments of the wrong type',
    text:
      '/mcp answers clients that accept JSON only, anything, or say nothing, and /mcp/ is the same address. An argument of ' +
      'another type than the schema says is refused by name, where it was turned into text. In `structuredContent` an id above ' +
      '2^53 is a string. Answers lose every character that nobody sees, but joiners inside an emoji.',
    operations: [],
  },
  {
    id: 'spans-of-files',
    day: '2026-11-28',
    kind: 'added',
    title: 'The manifest of /exports/ names columns and times of each file',
    text: 'Each file has its `columns`, and one of facts the times of its first and last row: `min_time`, `max_time`.',
    operations: [],
  },
  {
    id: 'claims-by-one-rule',
    day: '2026-11-28',
    kind: 'changed',
    title: 'All that supports a claim is judged by one rule',
    text:
      'A manifest with `"withdrawn": true` is 400, and an address whose verification is of an unknown type is 422 ' +
      'ERR_ADDRESS_NOT_VERIFIED. A profile’s URL and the holder of a registration link a host only when they are worth what ' +
      'a verified address must be worth to claim. A claim of method eip191 can end with `key_removed`, too: when a reorg took ' +
      'back the log that added the key of the verification.',
    operations: ['claim', 'getClaimProof'],
  },
  {
    id: 'refusals-that-end',
    day: '2026-11-28',
    kind: 'changed',
    title: 'A refused Host ends the connection; readiness tells of Redis',
    text:
      'The answer to a refused Host closes its connection. `/readyz` is 503 while requests cannot be counted. Clients behind ' +
      'NAT64 are counted by their IPv4 address, not together. A weak or listed `If-Range` gets the whole file. Of two `in` of ' +
      '/api/search, the first counts.',
    operations: ['searchAgents'],
  },
  {
    id: 'attempts-stay-counted',
    day: '2026-11-28',
    kind: 'changed',
    title: 'A refused MCP call costs what another refusal costs, and counts stay',
    text:
      'A call to /mcp that is over a limit is refused before a server is made for it. Counters without Redis forget ended ' +
      'windows first, then those with the fewest hits, so that a range of addresses resets nobody’s count.',
    operations: [],
  },
  {
    id: 'ends-nobody-signed',
    day: '2026-11-28',
    kind: 'changed',
    title: 'What a hub says alone ends less',
    text:
      'A verification that a hub’s event calls pruned, revoked or deleted ends when the hub’s own list, asked at once, ' +
      'leaves it out; before, copies in other shards and removals by any key ended it for up to a day.',
    operations: [],
  },
  {
    id: 'sources-that-agree',
    day: '2026-11-28',
    kind: 'changed',
    title: 'Certificates name every source that agrees',
    text:
      '`sources` of a certificate in /api/coverage named what the blocks were read from. It also names `rpc` when the ' +
      'chain’s node confirmed a sample of the blocks in which the other source had nothing, or wrote the same rows that ' +
      'an audit found.',
    operations: ['getCoverage'],
  },
  {
    id: 'complete-with-permit2',
    day: '2026-11-28',
    kind: 'changed',
    title: 'Series wait for payments that no settlement stands beside',
    text:
      '`complete_until` passed over Permit2 and forwarded payments that were not summed up yet, when no settlement ' +
      'waited. It is before the first row of any kind that waits now.',
    operations: [],
  },
  {
    id: 'left-without-status',
    day: '2026-11-28',
    kind: 'changed',
    title: 'Who left has no status; the catalog is that of the released specification',
    text:
      'The entry of /feed/events.atom for an agent that left had its last status as a category; it has none now. ' +
      '/.well-known/ai-catalog.json is of AI Catalog 0.9: `specVersion` says so, and `displayName` is gone. ' +
      'Of the bulk file, `generated_at` of one content is the same from every process.',
    operations: [],
  },
  {
    id: 'all-of-a-holder',
    day: '2026-11-28',
    kind: 'added',
    title: 'All registrations of an address without an agent',
    text:
      '/api/by-address ended at 10,000 registrations without saying so. `registrations_total` says how many there are, ' +
      'and `next_cursor` leads to the next page.',
    operations: ['getByAddress'],
  },
  {
    id: 'other-wallet-chain',
    day: '2026-11-28',
    kind: 'added',
    title: 'What a contract wallet has on other chains is marked',
    text:
      'The verification of a contract wallet names a chain; elsewhere the address may be somebody else’s. Its ' +
      'registrations and payments there count as before and have `wallet_chain: "other"`, else null; so has an address ' +
      'that holds such registrations. `flags.other_chain` of income sums up the payments. In SQL: ' +
      '`directory.holdings`, `directory.addresses`, `directory.income`.',
    operations: ['getAgent', 'listRegistrations', 'listAddresses', 'getIncome', 'listIncome'],
  },
  {
    id: 'names-in-lists',
    day: '2026-11-28',
    kind: 'changed',
    title: 'The list of agents is searched by names only',
    text:
      '`q` of /api/discovery, and of its facets, finds a part of handle, display name or oli, an exact FID or an exact ' +
      'address. It also found words of documents, `@handle` and `FID 42`: those are found by /api/search.',
    operations: ['listAgents', 'countFacets'],
  },
  {
    id: 'signature-first',
    day: '2026-11-28',
    kind: 'changed',
    title: 'A bad signature is told before the network is asked; short ones are taken',
    text:
      'An eip191 proof whose signature is not the address’s gets 400 ERR_SIG_INVALID, also for an address that is not ' +
      'verified (422 before) and while the network does not answer (500 before). Signatures of 64 bytes (EIP-2098) are ' +
      'taken as their 65-byte form.',
    operations: ['claim', 'withdrawClaims', 'unlistAgent', 'relistAgent'],
  },
  {
    id: 'words-in-order',
    day: '2026-11-28',
    kind: 'changed',
    title: 'Words count in the order they were signed in; sales count before they are indexed',
    text:
      'A withdrawal ends the claims that were signed before it; `claimed` is true when one was signed later. A relisting ' +
      'signed before the unlisting does nothing, nor does an unlisting signed before the relisting: `unlisted` says how ' +
      'it stands. A FID that was sold a moment ago cannot be claimed with what its former owner verified.',
    operations: ['claim', 'withdrawClaims', 'unlistAgent', 'relistAgent'],
  },
  {
    id: 'hosts-unlocked',
    day: '2026-11-28',
    kind: 'changed',
    title: 'Nobody locks an owner out of his host; our own queue is no failure of a manifest',
    text:
      'Of the 60 manifests that are fetched from a host in ten minutes, those that name the FID do not count, and each FID ' +
      'counts apart. While too many requests wait for a host, a claim by it gets 503 ERR_RATE_LIMITER_UNAVAILABLE instead ' +
      'of 422 ERR_MANIFEST_FETCH_FAILED. `agent_status` in the answer to a claim is that of the profile right after it.',
    operations: ['claim', 'withdrawClaims'],
  },
  {
    id: 'legs-of-listed-tokens',
    day: '2026-11-28',
    kind: 'changed',
    title: 'Money is followed in listed tokens only',
    text:
      'Money that is passed on within a transaction is followed in the tokens of the chain table, to 256 transfers for ' +
      'each payment. A stranger’s token could log thousands of transfers, each of which was a payment of its own. A ' +
      'Permit2 payment in another token stays one payment. Rows that are stored already stay until their blocks are read again.',
    operations: [],
  },
  {
    id: 'mcp-without-selectors',
    day: '2026-11-26',
    kind: 'changed',
    title: 'What models are given has no variation selectors',
    text:
      'Answers of /mcp lose variation selectors, as they lose tag characters: people do not see them, and words can be ' +
      'spelled with them. An emoji may lose its colours. The API and the pages keep them.',
    operations: [],
  },
  {
    id: 'paid-with-an-amount',
    day: '2026-11-26',
    kind: 'changed',
    title: 'Feedback is paid from the first settlement with an amount on',
    text:
      '`paid` of feedback was true as well where the client had settled nothing before the feedback, and an amount only ' +
      'later. Now the first settlement with an amount counts; sums that were made before keep the old time until their ' +
      'recipient is counted again.',
    operations: [],
  },
  {
    id: 'rankings-counted',
    day: '2026-11-26',
    kind: 'added',
    title: 'A leaderboard says whether it was counted',
    text:
      'By volume, payers or income, with a chain, without own payments or with `change`, /api/leaderboard has `counted`. ' +
      'It is false until the first round of counting is over: the ranking is empty then, whoever was paid.',
    operations: [],
  },
  ...firstChanges,
]
