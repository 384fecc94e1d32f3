import { z } from 'zod'
import { grouped, profileLimits, uptimeLimits } from '../../../config/limits.ts'
import { address, chainName, checkStatus, count, dollars, fid, hash, time, tokenId } from '../scalars.ts'
import { payeeOutcome } from './payee.ts'

// What sources outside the chains and the social network say about an agent.

const text = z.string().nullable()
const maybeTime = time.nullable()

export const oliTag = z
  .strictObject({
    address,
    chain: chainName.nullable().meta({ description: 'Null: the tag holds on every chain.' }),
    slug: text.meta({ description: 'The tag for programs.' }),
    name: text.meta({ description: 'The tag for people.' }),
    tag_type: text.meta({ description: 'Kind of tag, in the words of its source.' }),
    ordinal: z.int().nullable().meta({ description: 'Weight that its source gives it; higher goes first.' }),
    meta: z.record(z.string(), z.unknown()).nullable().meta({ description: 'What else its source says of it.' }),
    source: z
      .enum(['blockscout', 'oli'])
      .meta({ description: 'blockscout: an explorer; oli: attestations of the Open Labels Initiative.' }),
    attester: address.nullable().meta({ description: 'Who attested it. Null: it is no attestation.' }),
    fetched_at: time.meta({ description: 'When its source was asked.' }),
  })
  .meta({ id: 'OliTag' })

const uptime = (days: number) =>
  z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .meta({
      description:
        `Share of the checks within the last ${days} UTC days, today’s included, in which it answered; four digits. ` +
        `Null: fewer than ${grouped(uptimeLimits.fewestChecks)} checks.`,
    })
const uptimes = { uptime_7d: uptime(7), uptime_30d: uptime(30) }

/** Kinds of spec documents and of pages, with their names for people. */
export const protocolNames = { a2a: 'A2A', mcp: 'MCP', openapi: 'OpenAPI', web: 'Web', x402: 'x402' } as const
type Protocol = keyof typeof protocolNames

const specDetails = z
  .strictObject({
    interfaces: z
      .array(
        z.strictObject({
          url: z.string().meta({ description: 'An address, or a path on the host of the document.' }),
          name: text.meta({ description: 'Name of the server, where the document lists several.' }),
          binding: text.meta({ description: 'How it is spoken to, as written: JSONRPC, streamable-http, sse.' }),
          version: text.meta({ description: 'Version of the protocol.' }),
        }),
      )
      .optional()
      .meta({ description: 'Where requests are taken.' }),
    skills: z
      .array(z.strictObject({ name: z.string(), id: text, tags: z.array(z.string()) }))
      .optional()
      .meta({ description: 'Those of `skills` that have an id or tags.' }),
    security: z
      .array(z.strictObject({ name: z.string(), type: text }))
      .optional()
      .meta({ description: 'How clients show who they are, as the document says.' }),
    catalog: z.string().optional().meta({ description: 'Address of the catalog that led to it, if one did.' }),
  })
  .meta({ id: 'SpecDetails', description: 'What else the document says; an empty list is left out.' })

const json = z.record(z.string(), z.unknown()).nullable()

const soldResource = z
  .strictObject({
    resource: text.meta({ description: 'What is sold: an address, or a method and a path.' }),
    service_name: text,
    tags: z.array(z.string()),
    icon_url: text,
    route_template: text,
    input: json.meta({ description: 'How it is called; `type` is http or mcp.' }),
    output: json,
    schema: json.meta({ description: 'JSON Schema of both.' }),
    left_out: z.array(z.string()).meta({
      description: 'Members that are said, but not kept, or not whole: too long, or a schema that leads elsewhere.',
    }),
  })
  .meta({ id: 'SoldResource', description: 'What a seller says of what it sells by x402, unverified.' })

const specDocument = z
  .strictObject({
    kind: z.enum(Object.keys(protocolNames) as [Protocol, ...Protocol[]]).meta({
      description:
        'A2A agent card, MCP server, OpenAPI description, x402 resources; web: a page that a registration names.',
    }),
    url: z.string(),
    version: text.meta({ description: 'As the document says.' }),
    title: text.meta({ description: 'As the document says.' }),
    skills: z.array(z.string()).meta({ description: 'Skills that the document names.' }),
    tools: z.array(z.string()).meta({ description: 'Tools that the document names.' }),
    path_count: count.nullable().meta({ description: 'Paths or resources that it describes.' }),
    domain_verified: z
      .boolean()
      .meta({ description: 'Whether the host lists a registration of the agent as its own.' }),
    card_signature: z.enum(['valid', 'invalid', 'untrusted', 'none']).nullable().meta({
      description:
        'Of an A2A card: whether a key that its own origin publishes signed it. It says nothing about who owns the agent.',
    }),
    content_sha256: text.meta({ description: 'SHA-256 of the document as it was last read, in hex.' }),
    first_seen_at: maybeTime.meta({ description: 'When the document was first read.' }),
    last_alive_at: maybeTime.meta({ description: 'When a check last found it alive.' }),
    last_check_at: maybeTime.meta({ description: 'When it was last checked.' }),
    last_check_status: checkStatus.nullable(),
    http_status: z.int().nullable().meta({ description: 'Of the answer to the last check. Null: there was none.' }),
    latency_ms: count.nullable().meta({ description: 'Milliseconds that the last check took.' }),
    consecutive_failures: count.meta({ description: 'Checks that failed since it was last found alive.' }),
    ...uptimes,
    protocol_version: text.meta({ description: 'Of an MCP server that was asked: the revision it speaks.' }),
    tool_hashes: z.array(z.string()).meta({
      description: 'SHA-256 of the definition of each of `tools`, in their order; empty: the server was not asked.',
    }),
    tools_changed_at: maybeTime.meta({
      description: 'When the definition of a tool was last seen changed while its name stayed.',
    }),
    back_reference: z
      .enum(['confirmed', 'missing', 'contradicted'])
      .nullable()
      .meta({
        description:
          'confirmed: its host lists a registration that the agent holds; missing: it lists none; contradicted: it, or ' +
          'the registration file that names it, lists those of others only. Null: not known yet.',
      }),
    details: specDetails,
    resources: z.array(soldResource).max(profileLimits.resourcesOfDocument).meta({
      description: 'What it says of what it sells, beside prices.',
    }),
    truncated: z.record(z.string(), count).meta({
      description: 'Lists of which only a part is kept, with the fewest entries that they can have.',
    }),
    readable: z.boolean().meta({ description: 'Whether it was read, or found unchanged, at the last check.' }),
    answers: z
      .strictObject({
        code: z.enum([...checkStatus.options, 'not_asked']).meta({
          description:
            'ok: the right answer of its protocol, of a page any 2xx. payment_required, auth_required: somebody is there, too. not_asked: it ' +
            'names no place that can be asked. Else why it does not answer.',
        }),
        since: time.meta({ description: 'Since when it has answered so.' }),
        latency_ms: count.nullable(),
      })
      .nullable()
      .meta({
        description:
          'How what it describes answered a request of its own protocol that gives it no work to do. Null: nobody has asked yet.',
      }),
  })
  .meta({ id: 'SpecDocument' })

const cut = count.optional()
/** Liveness of an agent's best spec document, which no page is, then all that was looked at. */
export const agentSpecs = z
  .strictObject({
    last_alive_at: maybeTime,
    last_check_at: maybeTime,
    last_check_status: checkStatus.nullable(),
    documents: z.array(specDocument).max(profileLimits.documents),
    truncated: z
      .strictObject({ hosts: cut, places: cut, registrations: cut, documents: cut })
      .meta({ description: 'Of what only a part was looked at or kept, with the fewest that there can be.' }),
  })
  .meta({ id: 'AgentSpecs' })

const uptimeDay = z
  .strictObject({
    start: time.meta({ description: 'Beginning of a UTC day.' }),
    checks: count,
    alive: count.meta({ description: 'Of the checks, those that found it alive.' }),
    latency_ms: count
      .nullable()
      .meta({ description: 'Median of the checks that found it alive. Null: none did, or none was answered.' }),
  })
  .meta({ id: 'UptimeDay' })

const { kind, url, last_check_at, last_check_status } = specDocument.shape
const watchedDocument = z
  .strictObject({
    kind,
    url,
    last_check_at,
    last_check_status,
    ...uptimes,
    days: z.array(uptimeDay).max(uptimeLimits.days.maximum),
  })
  .meta({ id: 'WatchedDocument' })

export const agentUptime = z
  .strictObject({
    fid,
    since: time.meta({ description: 'Where the first day begins.' }),
    until: time.meta({ description: 'Where the last day ends; it is not over.' }),
    count,
    documents: z.array(watchedDocument),
  })
  .meta({ id: 'AgentUptime' })

const declaredDollars = dollars.nullable()
const price = z
  .strictObject({
    kind,
    url: url.meta({ description: 'The document or the endpoint that says so.' }),
    resource: text.meta({ description: 'What is sold: an address, or a method and a path.' }),
    description: text,
    scheme: text.meta({ description: 'How x402 charges it: exact, upto and others.' }),
    network: text.meta({ description: 'As it is declared, such as eip155:8453 or base.' }),
    chain: chainName.nullable().meta({ description: 'What `network` means. Null: no chain that is known here.' }),
    asset: text.meta({ description: 'As it is declared; an address in lowercase.' }),
    testnet: z.boolean().meta({ description: '`network` is one for tests, where money is worth nothing.' }),
    amount: text.meta({
      description: 'Digits: base units of `asset`. With `currency`: what is asked for in it, as written.',
    }),
    currency: text.meta({
      description: 'What `amount` is in, as written. Null: base units of `asset`, or only dollars are named.',
    }),
    pay_to: text.meta({ description: 'As it is declared; it says nothing about who that is.' }),
    min_amount_usd: declaredDollars.meta({
      description:
        'What it costs at least. Null: not known, as for what is neither USD nor a dollar token of the chain.',
    }),
    max_amount_usd: declaredDollars.meta({ description: 'What it costs at most. Null: not known.' }),
    last_alive_at: maybeTime.meta({ description: 'When the document was last found alive.' }),
    signature: z
      .strictObject({
        by: z.string().meta({
          description:
            'The address of `pay_to`, or the DID URL of a key that the host of the endpoint publishes (did:web) or names in DNS ' +
            '(did:jwk, did:pkh).',
        }),
        since: maybeTime.meta({ description: 'When this signed offer was first seen.' }),
        valid_until: maybeTime.meta({ description: 'Null: the offer says no end.' }),
        outcome: z
          .enum(['fulfilled'])
          .nullable()
          .meta({
            description:
              'fulfilled: while the offer held, a payment of its token and amount to `pay_to` is in a final block. Null: none is known. ' +
              'What it was paid for stands on no chain, so that nothing is said of payments of other amounts.',
          }),
        payment: z
          .strictObject({ chain: chainName, tx_hash: hash, block_number: count, block_timestamp: time })
          .nullable()
          .meta({ id: 'OfferPayment', description: 'The newest such payment, as evidence.' }),
      })
      .nullable()
      .meta({
        id: 'OfferSignature',
        description:
          'The key of `pay_to`, or one that the endpoint’s host names, signed this offer for this endpoint (x402 offer-receipt, EIP-712 or ' +
          'JWS). Null: the seller only says so.',
      }),
    payee: z
      .strictObject({
        outcome: payeeOutcome,
        chain: chainName
          .nullable()
          .meta({ description: 'Of the registration that `pay_to` is held against. Null: none was found.' }),
        erc8004_id: tokenId.nullable(),
        block_number: count.nullable().meta({ description: 'The final block that the registry was read at.' }),
        human: z
          .enum(['proven', 'signed', 'stated'])
          .nullable()
          .meta({ description: 'How it is proven that the account verifies `pay_to` itself. Null: it does not.' }),
      })
      .meta({ id: 'OfferPayee', description: 'Whether `pay_to` is the agent’s: /api/payee says it with evidence.' }),
  })
  .meta({ id: 'DeclaredPrice' })

export const agentPrices = z.strictObject({ fid, count, prices: z.array(price) }).meta({ id: 'AgentPrices' })

export const edge = z
  .strictObject({
    kind: z
      .enum(['follows', 'feedback', 'settlement', 'shared_owner', 'shared_wallet', 'shared_host', 'transfer'])
      .meta({ description: 'What the two agents have to do with each other.' }),
    direction: z.enum(['out', 'in', 'both']).meta({ description: 'out: from this agent to the other.' }),
    fid: fid.meta({ description: 'The other agent.' }),
    handle: text.meta({ description: 'Of the other agent.' }),
    claimed: z.boolean().meta({ description: 'Whether the other agent is claimed.' }),
    chain: chainName.nullable().meta({ description: 'Null: the edge is of no chain.' }),
    weight: count.meta({ description: 'How often: settlements, feedback, registrations; 1 where nothing is counted.' }),
    amount_usdc: dollars.nullable().meta({ description: 'Of settlements: their sum in dollars.' }),
    first_seen_at: maybeTime,
    last_seen_at: maybeTime,
  })
  .meta({ id: 'AgentEdge' })

export const codehostProfile = z
  .strictObject({
    login: z.string(),
    user_id: z.int(),
    type: text,
    name: text,
    url: text,
    avatar_url: text,
    bio: text,
    followers: count.nullable(),
    following: count.nullable(),
    public_repos: count.nullable(),
    total_stars: count.nullable(),
    top_languages: z.array(z.string()),
    account_created_at: maybeTime,
    last_push_at: maybeTime,
    verified: z.boolean(),
    source: text,
    fetched_at: time,
  })
  .meta({ id: 'CodehostProfile' })

export const agentIdentity = z
  .strictObject({
    platform: z.string(),
    identity: z.string(),
    display_name: text,
    address: text,
    url: text,
    avatar_url: text,
    description: text,
    sources: z.array(z.string()),
    follower_count: count.nullable(),
    fetched_at: time,
  })
  .meta({ id: 'AgentIdentity' })
