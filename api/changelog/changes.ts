import { earlierChanges } from './earlier-changes.ts'
import type { ApiChange } from './first-changes.ts'

/** Everything that changed for clients, newest first: /docs/changelog and /feed/api.atom are made of it. */
export const apiChanges: readonly ApiChange[] = [
  {
    id: 'offers-on-chain',
    day: '2026-11-29',
    kind: 'changed',
    title: 'Offers of manifests are held against the chain',
    text:
      '/api/agent/{fid}/doctor has findings from the chain for the offers of manifests, as for demands: asset, way to pay, payTo. ' +
      '`chain_not_checked` also says how many ways to pay were not looked at. Where a DID document says what its keys are for, ' +
      'those under `assertionMethod` alone sign prices.',
    operations: ['diagnoseAgent', 'getPrices'],
  },
  {
    id: 'webhooks',
    day: '2026-11-29',
    kind: 'added',
    title: 'Webhooks owned by an account',
    text:
      'An account registers an address with a signature (POST /api/webhooks) and is sent what happens to agents: listed, ' +
      'updated, delisted, claimed, an endpoint that is down, another payee. Signed by Standard Webhooks, in order, again ' +
      'until it is taken; with a list of attempts, pings and replays. /api/claim/challenge takes `action=webhook` with `url`.',
    operations: [
      'registerWebhook',
      'getWebhook',
      'deleteWebhook',
      'listWebhookDeliveries',
      'pingWebhook',
      'replayWebhook',
    ],
  },
  {
    id: 'operators',
    day: '2026-11-29',
    kind: 'added',
    title: 'Operators count as the agent',
    text:
      'Payments and feedback by an operator of an agent’s address, or by who is approved for its registration, are those of the ' +
      'same owner while that holds: `same_owner` of income, `self` of feedback. /api/registrations takes `operator`, and ' +
      '/feed/events.atom has an entry when others can change an agent than before.',
    operations: ['listAllRegistrations', 'listFeedback', 'getIncome', 'getAgent', 'getEventsFeed'],
  },
  {
    id: 'subgraph',
    day: '2026-11-29',
    kind: 'added',
    title: 'A subgraph for agent0-sdk',
    text:
      'POST /subgraph answers GraphQL by the names of the public subgraph of ERC-8004, over every registration, its file, ' +
      'metadata, feedback and responses; /subgraph/{chain} is the same over one chain. `agent0-sdk` is led there by ' +
      '`subgraphOverrides`. It counts towards the limits of the API.',
    operations: [],
  },
  {
    id: 'signed-by-host',
    day: '2026-11-29',
    kind: 'added',
    title: 'Offers signed by a key of their host, first-revision MCP servers, and what is sold as a facet',
    text:
      'A price has `signature` also where its offer is a JWS by a key that the endpoint’s host publishes (did:web); `by` is then ' +
      'the DID URL of the key. In SQL, `directory.prices` has `signed_by` and `signed_until`. MCP servers of revision 2024-11-05 ' +
      '(HTTP with SSE) are asked. /api/discovery/facets counts `sells`.',
    operations: ['getPrices', 'countFacets'],
  },
  {
    id: 'doctor-on-chain',
    day: '2026-11-29',
    kind: 'added',
    title: 'The doctor asks the chain, and looks back',
    text:
      '/api/agent/{fid}/doctor has findings from the chain of a demand: no contract at the asset, a token that cannot be paid ' +
      'with in the way that is asked for, one that refuses `payTo`, and a payee that keeps for ever what it gets. `as_of` of an ' +
      'endpoint names the blocks; `chain_not_checked` says that no node was asked. With `as_of=` it answers with what the ' +
      'looks by then had found, as far back as a week.',
    operations: ['diagnoseAgent', 'listFindingCodes', 'getFindingCode'],
  },
  {
    id: 'agent-control',
    day: '2026-11-29',
    kind: 'added',
    title: 'Who could change an agent',
    text:
      '/api/agent/{fid}/control says who may change each registration of an agent, now or at `as_of`: its owner, the address ' +
      'that is approved for it until the next transfer, and the operators of the owner, each with what it may do and since when; ' +
      'beside them the `agentWallet` and the contract of an `agent-binding`. The registries’ Approval and ApprovalForAll are indexed.',
    operations: ['getAgentControl'],
  },
  {
    id: 'log-before',
    day: '2026-11-29',
    kind: 'added',
    title: 'Which transparency log it is, and what was signed of the one before',
    text:
      '/api/stats has `log`: its number, how many entries are signed, and the last checkpoint of the log before where entries ' +
      'were lost. /status says so, too.',
    operations: ['getStats'],
  },
  {
    id: 'demand',
    day: '2026-11-29',
    kind: 'added',
    title: 'How many payers come back',
    text:
      'Income has `demand`: payers who came back, in 30 days and at all, new ones, the time between payments of one payer, ' +
      'and the share of the largest, without what an agent paid itself and rings. The leaderboard ranks by it with ' +
      '`by=repeat_payers`; the SQL view and the file of exports are `demand`. Addresses that are flagged are a file of their ' +
      'own, `flagged_addresses`, under CC0.',
    operations: ['getIncome', 'getLeaderboard'],
  },
  {
    id: 'signed-prices',
    day: '2026-11-29',
    kind: 'added',
    title: 'Prices that the key of their payee has signed',
    text:
      'Prices have `signature` where a 402 answer carries an offer for its endpoint (x402 extension offer-receipt, EIP-712) ' +
      'that the key of `pay_to` signed: by whom, and until when it holds. Null: the seller only says so.',
    operations: ['getPrices'],
  },
  {
    id: 'doctor',
    day: '2026-11-29',
    kind: 'added',
    title: 'Why nobody can reach an agent, or pay it',
    text:
      '/api/agent/{fid}/doctor has what the last looks at an agent’s endpoints found, by codes that /api/doctor/codes lists ' +
      'and /docs/doctor explains: no answer, no document of its kind, and what keeps buyers from paying a 402 answer. ' +
      '`npm run doctor -- URL` looks at any endpoint now. Explanations name it in `doctor`; the MCP tool is `diagnose_agent`.',
    operations: ['diagnoseAgent', 'listFindingCodes', 'getFindingCode', 'explainAgent'],
  },
  {
    id: 'channels',
    day: '2026-11-29',
    kind: 'added',
    title: 'Income from payment channels',
    text:
      'What a seller claims from channels of x402’s batch-settlement is income of the new kind `batch_claim`. What is deposited ' +
      'and not claimed is told apart, in `pending` of /api/agent/{fid}/income, and is in no sum.',
    operations: ['getIncome', 'listIncome', 'getIncomeStats'],
  },
  {
    id: 'witnesses',
    day: '2026-11-29',
    kind: 'added',
    title: 'Witnesses cosign the transparency log',
    text:
      '`/log/checkpoint` has, behind the log’s own signature, those of the witnesses that the operator names, by C2SP ' +
      'tlog-cosignature v1. `npm run witness` is one: it reads the whole log and cosigns what goes on from all that it has seen.',
    operations: [],
  },
  {
    id: 'all-registrations',
    day: '2026-11-29',
    kind: 'added',
    title: 'Search over every registration',
    text:
      '/api/registrations lists every registration on every chain, whoever holds it, by what it says, who holds it, its ' +
      'metadata and its feedback. `fid` and `human` say which agent verifies the holder, and how that is known. ' +
      '/api/discovery takes `trust`, `active`, `x402` and `min_feedback` of the registrations that an agent holds.',
    operations: ['listAllRegistrations', 'listAgents'],
  },
  {
    id: 'grounds-of-feedback',
    day: '2026-11-29',
    kind: 'added',
    title: 'What feedback rests on',
    text:
      'Feedback has `grounds` (payment, payment_named, contradicted, file, hash_mismatch, none), with the `payment` and what ' +
      'was read of its `file`; files are read once, and payments that they name are looked up. `unit` gives the tags of the ' +
      'standard their meaning. The list takes `grounds`, `tag1`, `tag2`, `endpoint`, `min_value`, `client` and `since`; the ' +
      'summary has the numbers by grounds, `count_grounded`, and for each tag `median_grounded`. In SQL, `directory.agent_feedback` has the same.',
    operations: ['listFeedback', 'getAgent'],
  },
  {
    id: 'alive-means-answers',
    day: '2026-11-29',
    kind: 'changed',
    title: 'Alive means that what a document describes answers',
    text:
      'Documents say whether they are `readable`, and how what they describe `answers` a request that gives it no work: ' +
      '`alive` and uptimes follow that. They have `resources`, what is sold, which `sells` filters by name and tag, and ' +
      '`truncated`, as registrations have: lists that are cut. Search finds tags and ids in documents, as `detail`.',
    operations: ['getAgent', 'listAgents', 'searchAgents', 'countFacets', 'getUptime', 'listRegistrations'],
  },
  {
    id: 'signed-answers',
    day: '2026-11-29',
    kind: 'added',
    title: 'Answers that are signed, to keep as evidence',
    text:
      'With `signed=1`, or `Accept: application/jose+json`, a profile, its settlements, its income, the check of a payee and ' +
      'the proof of a claim come as a JWS over the exact body, with the time, the path and the last checkpoint of the ' +
      'transparency log in its header. The key is at /.well-known/jwks.json. A service without one answers with ' +
      'ERR_SIGNATURE_UNAVAILABLE. These five requests have `Vary: Accept-Encoding, Accept`.',
    operations: ['getAgent', 'listSettlements', 'getIncome', 'checkPayee', 'getClaimProof'],
  },
  {
    id: 'payee-of-prices',
    day: '2026-11-29',
    kind: 'added',
    title: 'Each price says whether it is paid to the agent’s own wallet',
    text:
      'Prices have `payee`: the outcome of /api/payee at the newest final block, for the registration that the offer names ' +
      'in `extra.erc8004`, which the agent has to hold, else for one of the agent’s, and whether the account verifies the ' +
      'address itself; a document speaks for what is sold on its own host alone. In SQL it is ' +
      '`directory.payees`. /api/payee takes the named registration, too. Badges of agents all of whose offers are paid to ' +
      'their wallets say so.',
    operations: ['getPrices', 'checkPayee', 'getBadge', 'getBadgeEndpoint'],
  },
  {
    id: 'whose-feedback',
    day: '2026-11-29',
    kind: 'changed',
    title: 'Feedback says whose its client was at that time',
    text:
      '`client` is judged as of the block of the feedback, and `self` by what income calls the same owner: addresses that ' +
      'the agent verified before, wallets of its registrations, and who held these before. `agent` has wallets too. `paid` ' +
      'counts every kind of income. Feedback from before the agent held the registration has `before_holder`, and is in no ' +
      'number of the summary but the new `before_holder`. Payments from an address before it was a wallet or holder of the ' +
      'agent’s registrations are no longer flagged `same_owner`.',
    operations: ['getAgent', 'listFeedback', 'getIncome'],
  },
  {
    id: 'names-in-the-stream',
    day: '2026-11-29',
    kind: 'added',
    title: 'The stream of settlements names who is known',
    text:
      'Each event of /data/settlements.sse has `names`: the agent and the facilitator behind payer, recipient and sender, ' +
      'where they are known.',
    operations: ['followSettlements'],
  },
  {
    id: 'most-earned',
    day: '2026-11-29',
    kind: 'added',
    title: 'Agents by what they earned',
    text:
      '/api/discovery takes `sort=most-earned`: income of every kind in 30 days, then ever, without what agents paid ' +
      'themselves, as the leaderboard by income has it. Other orders are as they were.',
    operations: ['listAgents'],
  },
  {
    id: 'logs-that-follow',
    day: '2026-11-29',
    kind: 'added',
    title: 'A transparency log that lost entries is followed by another',
    text:
      'When a restore or failover loses signed entries, another log begins, with a number in its origin and in the paths of ' +
      'its files, such as `/log/2/tile/…`. Its first entry has origin, size and root of the log before. `/log/checkpoint` and ' +
      '`/log/key` are those of the newest log.',
    operations: [],
  },
  {
    id: 'chain-names',
    day: '2026-11-29',
    kind: 'added',
    title: 'Names of chains beside their labels',
    text:
      '`chains` of an agent is labels (`Base`), as filters list them; `chain` of a row is a name (`base`). Profiles, in the ' +
      'bulk document and the log too, hits of a search and the verifications of an explanation have the names in ' +
      '`chain_names`, in the same order. Rows of discovery, of changes and of the leaderboard keep their fields. In SQL, ' +
      '`directory.agents` has names in `chains` and labels in `chain_labels`.',
    operations: ['getAgent', 'getBulk', 'getLog', 'explainAgent', 'explainByAddress', 'getAgents', 'searchAgents'],
  },
  {
    id: 'logged-proofs',
    day: '2026-11-29',
    kind: 'added',
    title: 'The proof of a claim shows its entries in the transparency log',
    text:
      '`log` has the signed checkpoint, the key of the log, and an inclusion proof of the claim’s first and last event. ' +
      '`verify-proof` checks them offline, with `--log-key` against the key that you know. null: the service signs no log.',
    operations: ['getClaimProof'],
  },
  {
    id: 'transparency-log',
    day: '2026-11-29',
    kind: 'added',
    title: 'A transparency log of claims, under /log',
    text:
      'Events of claims, and what accounts said on their listing, are entries of one Merkle tree, with digests instead of ' +
      'words. `/log/checkpoint` is the signed tree by C2SP tlog-checkpoint, `/log/tile/…` its files by C2SP tlog-tiles, ' +
      '`/log/key` whose signature it is. They do not count towards the limits. docs/log.md says what they prove.',
    operations: [],
  },
  {
    id: 'details-of-documents',
    day: '2026-11-29',
    kind: 'added',
    title: 'What documents say of interfaces, skills and security',
    text:
      'Documents of a profile have `details`: where requests are taken, with binding and version of the protocol, ids and ' +
      'tags of skills, security schemes, and, in `truncated`, lists of which only a part is kept. Cards of MCP ' +
      'and A2A and OpenAPI descriptions, in YAML as well, are read however their keys are spelt. All cards of a catalog are ' +
      'documents, and each host of an agent is asked in its turn.',
    operations: ['getAgent'],
  },
  {
    id: 'payee',
    day: '2026-11-29',
    kind: 'added',
    title: 'Whether the address that a seller wants to be paid at is its agent’s',
    text:
      '/api/payee holds the `payTo` of a 402 answer, or of an endpoint as it was last read, against the wallet that the ' +
      'registry stores for the agent, at a final block or at a moment in the past. The outcome is in the words of the ' +
      'draft ERC-8478; `human` is the account that verifies the address itself. The MCP tool is `check_payee`.',
    operations: ['checkPayee'],
  },
  {
    id: 'totals-of-a-round',
    day: '2026-11-28',
    kind: 'changed',
    title: 'All totals of /api/stats are those of the last count',
    text:
      'Settlements were as counted within the last minute, agents, addresses and registrations as of the request. All of ' +
      'them are as counted within the last minute or two now; `chains` and `hub` are as they are.',
    operations: ['getStats'],
  },
  {
    id: 'one-spelling',
    day: '2026-11-28',
    kind: 'changed',
    title: 'JSON is spelled in one way, with a newline at its end',
    text:
      'What the database wrote had spaces (`"fid" : 1099`), everything else had none. No answer has spaces outside of ' +
      'strings now (`"fid":1099`), and each ends with a newline: GETs, POSTs, errors, lines of NDJSON, MCP and GraphQL. ' +
      'Values have the same digits and characters. Every ETag is a new one, once.',
    operations: [],
  },
  {
    id: 'bios-searched',
    day: '2026-11-28',
    kind: 'changed',
    title: 'A search looks through bios, finds plurals, and words that begin so',
    text:
      '/api/search and the pages find words in the bio of an account, behind those of its documents; `in=description` has ' +
      'bios too, and `matched` names the field `bio`. A word is found in its singular and plural, and where nobody says it ' +
      'whole, in words that begin so. `q` of discovery is as it was.',
    operations: ['searchAgents', 'countFacets'],
  },
  {
    id: 'payers-to-the-row',
    day: '2026-11-28',
    kind: 'changed',
    title: 'The leaderboard tells how many paid as of now',
    text:
      '`unique_payers` of an agent with more than 300 settlements was some minutes old. It is exact to the row when it is ' +
      'asked for, unless thousands of addresses paid the agent within a minute.',
    operations: [],
  },
  {
    id: 'prices-as-written',
    day: '2026-11-28',
    kind: 'changed',
    title: 'Prices in other currencies are kept as they are, and never in dollars',
    text:
      'Half a SOL was listed as $0.50. Dollars are given for USD, texts that begin with `$` and the dollar tokens of the ' +
      'chain table alone; anything else is in `currency` and `amount` as it is written, and `testnet` marks networks for ' +
      'tests. Many more manifests and priced OpenAPI descriptions are read, whatever their keys are called.',
    operations: ['getPrices'],
  },
  {
    id: 'probes-ahead',
    day: '2026-11-28',
    kind: 'changed',
    title: 'No crowd makes a probe of readiness say that the database does not answer',
    text:
      'The ping of /readyz took its turn among the clients that wait for the database, and was refused with them when too ' +
      'many did. It is next now, however many wait.',
    operations: [],
  },
  {
    id: 'handles-marked',
    day: '2026-11-28',
    kind: 'added',
    title: 'Who stands behind a handle, in more places',
    text:
      '`handle_assurance` of a profile stands beside the handles of portfolios and of the owners of an address, too, and in ' +
      '`directory.agents`. Entries of /feed.atom and the page of an agent say `stated` behind a handle that one hub alone ' +
      'says is the account’s.',
    operations: ['getAddressPortfolio', 'getAddressOwners'],
  },
  {
    id: 'sixty-fetches-of-a-host',
    day: '2026-11-28',
    kind: 'changed',
    title: 'A host is asked 60 times for FIDs that it does not name, whichever they are',
    text:
      'The 60 fetches of a manifest in ten minutes were counted by host and FID, so that many FIDs could have a host asked ' +
      'without an end. They are counted by host; an attempt for the FID that the host named last is not refused for them.',
    operations: ['claim'],
  },
  ...earlierChanges,
]
