import { createHash } from 'node:crypto'
import { busiestChain, chainNames, chainOf } from '../../config/chains.ts'
import { clients, largestHolder, mostRated, type RegistrationsSize } from './world.ts'

/** A list that is asked for again and again, for something else each time. */
export interface List {
  readonly name: string
  /** Rows of a page at most, which its bound is for. */
  readonly rows: number
  readonly ask: (n: number) => Asked
}

interface Asked {
  readonly path: string
  /** JSON to send; undefined: a GET. */
  readonly body?: string
}

const address = (what: string, n: number | string) =>
  `0x${createHash('sha256').update(`${what} ${n}`).digest('hex').slice(0, 40)}`
const chain = chainOf(busiestChain)
const day = (n: number) => new Date(Date.UTC(2026, 4, 1) + n * 86_400_000).toISOString()
const seconds = (n: number) => String(Math.floor(Date.parse(day(n)) / 1_000))
const rows = 100

/** Every list over registrations and feedback. */
export const lists = (size: RegistrationsSize): List[] => [
  ...registrationLists(size),
  ...feedbackLists(),
  ...controlLists(size),
  ...discoveryLists(),
  ...subgraphLists(size),
]

type Query = Readonly<Record<string, string | number>>
const asked = (path: string, query: Query = {}): Asked => {
  const words = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return { path: `${path}?${words.join('&')}` }
}

/** By each filter, by some together, and in each order. */
function registrationLists({ agents }: RegistrationsSize): List[] {
  const one = (n: number) => 1 + ((n * 7_919) % agents)
  const filters: Readonly<Record<string, (n: number) => Query>> = {
    'no filter': (n) => ({ limit: 100 - (n % 50) }),
    newest: (n) => ({ sort: 'newest', limit: 100 - (n % 50) }),
    chain: (n) => ({ chain: chainOf(chainNames[n % chainNames.length] as (typeof chainNames)[number]).label }),
    name: (n) => ({ name: `Trade ${one(n)}` }),
    'name, of many': (n) => ({
      name: ['quill', 'ember', 'atlas', 'raven'][n % 4] as string,
      min_feedback: 1 + (n % 25),
    }),
    'description, of one': (n) => ({
      description: createHash('md5')
        .update(`${one(n)}`)
        .digest('hex'),
    }),
    'description, of all': (n) => ({ description: 'whoever pays', limit: 1 + (n % 100) }),
    owner: (n) => ({ owner: address('owner', one(n)) }),
    'operator of few': (n) => ({ operator: address('operator', n) }),
    'operator of many': (n) => ({ operator: address('operator', 'of many'), limit: 1 + (n % 100) }),
    'operator named again and again': (n) => ({ operator: address('named', n) }),
    wallet: (n) => ({ wallet: address('wallet', one(n) % 20_000) }),
    fid: (n) => ({ fid: one(n) }),
    'fid of the largest holder': (n) => ({ fid: largestHolder, limit: 1 + (n % 100) }),
    human: (n) => ({ human: n % 2 ? 'true' : 'false', limit: 1 + (n % 100) }),
    active: (n) => ({ active: n % 2 ? 'true' : 'false', limit: 1 + (n % 100) }),
    x402: (n) => ({ x402: n % 2 ? 'true' : 'false', limit: 1 + (n % 100) }),
    trust: (n) => ({ trust: ['reputation', 'tee-attestation'][n % 2] as string, limit: 1 + (n % 100) }),
    'trust that nobody has': (n) => ({ trust: `none${n}` }),
    service: (n) => ({ service: ['mcp', 'ens', 'web'][n % 3] as string, limit: 1 + (n % 100) }),
    oasf_skill: (n) => ({ oasf_skill: `nlp/${n % 60}`, limit: 1 + (n % 100) }),
    oasf_domain: (n) => ({ oasf_domain: `domain${n % 40}`, limit: 1 + (n % 100) }),
    skill: (n) => ({ skill: `skill${n}` }),
    tool: (n) => ({ tool: `tool${n}` }),
    prompt: (n) => ({ prompt: `prompt${n}` }),
    resource: (n) => ({ resource: `file://${n}` }),
    metadata: (n) => ({ metadata: n % 2 ? 'rare' : 'category', limit: 1 + (n % 100) }),
    'metadata with a value': (n) => ({ metadata: `category=category${n % 50}`, limit: 1 + (n % 100) }),
    min_feedback: (n) => ({ min_feedback: 1 + 10 * n }),
    max_feedback: (n) => ({ max_feedback: n }),
    'min_feedback and max_feedback': (n) => ({ min_feedback: 50 + n, max_feedback: 60 + n }),
    feedback_client: (n) => ({ feedback_client: address('client', (n * 31) % clients) }),
    feedback_tag: (n) => ({ feedback_tag: ['starred', 'week'][n % 2] as string, limit: 1 + (n % 100) }),
    min_feedback_value: (n) => ({ min_feedback_value: 20 + n / 2 }),
    max_feedback_value: (n) => ({ max_feedback_value: n / 10 }),
    registered_since: (n) => ({ registered_since: day(n - 80) }),
    'registered_since, newest': (n) => ({ registered_since: day(n - 80), sort: 'newest' }),
    updated_since: (n) => ({ updated_since: day(n) }),
    'active and x402 and a skill': (n) => ({ active: 'true', x402: 'true', skill: `skill${n}` }),
    'active and human and feedback': (n) => ({ active: 'true', human: 'true', min_feedback: 1 + n }),
  }
  return Object.entries(filters).map(([name, of]) => ({
    name: `registrations: ${name}`,
    rows,
    ask: (n) => asked('/api/registrations', { limit: rows, ...of(n) }),
  }))
}

/** Of the agent that has most of it, of the one that holds most registrations, and of others. */
function feedbackLists(): List[] {
  const filters: Readonly<Record<string, (n: number) => Query>> = {
    'no filter': (n) => ({ limit: 1 + (n % 100) }),
    chain: (n) => ({ chain: chain.label, limit: 1 + (n % 100) }),
    by: (n) => ({ by: ['stranger', 'agent', 'self'][n % 3] as string, limit: 1 + (n % 100) }),
    paid: (n) => ({ paid: n % 2 ? 'true' : 'false', limit: 1 + (n % 100) }),
    revoked: (n) => ({ revoked: n % 2 ? 'true' : 'false', limit: 1 + (n % 100) }),
    grounds: (n) => ({ grounds: ['payment', 'file', 'payment_named'][n % 3] as string, limit: 1 + (n % 100) }),
    flagged: (n) => ({ flagged: n % 2 ? 'true' : 'false', limit: 1 + (n % 100) }),
    flag: (n) => ({ flag: ['circle', 'funding_chain'][n % 2] as string, limit: 1 + (n % 100) }),
    tag1: (n) => ({ tag1: ['starred', `none${n}`][n % 2] as string, limit: 1 + (n % 100) }),
    tag2: (n) => ({ tag2: ['week', `none${n}`][n % 2] as string, limit: 1 + (n % 100) }),
    endpoint: (n) => ({ endpoint: ['https://agents.example/a2a', `none${n}`][n % 2] as string }),
    min_value: (n) => ({ min_value: n }),
    client: (n) => ({ client: address('client', n) }),
    since: (n) => ({ since: day(n) }),
  }
  const agents = [
    { whose: 'of the most rated', fid: () => mostRated },
    { whose: 'of the largest holder', fid: () => largestHolder },
    { whose: 'of others', fid: (n: number) => 3 + n },
  ]
  return Object.entries(filters).flatMap(([name, of]) =>
    agents.map(({ whose, fid }) => ({
      name: `feedback ${whose}: ${name}`,
      rows,
      ask: (n: number) => asked(`/api/agent/${fid(n)}/feedback`, { limit: rows, ...of(n) }),
    })),
  )
}

function controlLists({ agents }: RegistrationsSize): List[] {
  const of = (name: string, fid: (n: number) => number, query: (n: number) => Query = () => ({})): List => ({
    name: `control ${name}`,
    rows,
    ask: (n) => asked(`/api/agent/${fid(n)}/control`, query(n)),
  })
  return [
    of('of agents', (n) => 1 + ((n * 7_919) % agents)),
    of(
      'of agents, as of',
      (n) => 1 + ((n * 7_919) % agents),
      (n) => ({ as_of: day(n % 100) }),
    ),
    of('of the owner of 10,000 approvals', () => mostRated),
    of(
      'of the same, as of',
      () => mostRated,
      (n) => ({ as_of: day(n % 100) }),
    ),
    of('of the largest holder', () => largestHolder),
    of(
      'of the same holder, as of',
      () => largestHolder,
      (n) => ({ as_of: day(n % 100) }),
    ),
  ]
}

function discoveryLists(): List[] {
  const filters: Readonly<Record<string, (n: number) => Query>> = {
    trust: (n) => ({ trust: ['reputation', 'tee-attestation', `none${n}`][n % 3] as string }),
    active: (n) => ({ active: n % 2 ? 'true' : 'false' }),
    x402: (n) => ({ x402: n % 2 ? 'true' : 'false' }),
    min_feedback: (n) => ({ min_feedback: 1 + 5 * n }),
  }
  return Object.entries(filters).map(([name, of]) => ({
    name: `discovery: ${name}`,
    rows: 30,
    ask: (n) => asked('/api/discovery', { limit: 1 + (n % 30), ...of(n) }),
  }))
}

// What agent0-sdk 1.7.1 sends, with the fields that it asks for: pages of a thousand rows, or of a hundred for feedback.
const agentFields = `id chainId agentId owner operators agentURI agentURIType agentWallet createdAt updatedAt totalFeedback lastActivity
  registrationFile { id agentId name description image active x402Support supportedTrusts mcpEndpoint mcpVersion a2aEndpoint
    a2aVersion webEndpoint emailEndpoint hasOASF oasfSkills oasfDomains ens did mcpTools mcpPrompts mcpResources a2aSkills }`
const search = `query SearchAgentsV2($where: Agent_filter, $first: Int!, $skip: Int!, $orderBy: Agent_orderBy!, $orderDirection: OrderDirection!) {
  agents(where: $where, first: $first, skip: $skip, orderBy: $orderBy, orderDirection: $orderDirection) { ${agentFields} } }`
const getAgent = `query GetAgent($agentId: String!) { agent(id: $agentId) { ${agentFields} } }`
const feedbacks = `query Feedbacks($where: Feedback_filter, $first: Int!, $skip: Int!, $orderBy: Feedback_orderBy!, $orderDirection: OrderDirection!) {
  feedbacks(where: $where, first: $first, skip: $skip, orderBy: $orderBy, orderDirection: $orderDirection) {
    id agent { id } clientAddress value tag1 tag2 endpoint isRevoked createdAt responses(first: 1) { id } } }`
const metadata = `query AgentMetadatas($where: AgentMetadata_filter, $first: Int!, $skip: Int!) {
  agentMetadatas(where: $where, first: $first, skip: $skip) { id key value agent { id } } }`
const searchFeedback = (
  where: string,
) => `{ feedbacks(where: { ${where} } first: 100 skip: 0 orderBy: createdAt orderDirection: desc) {
  id agent { id agentId chainId } clientAddress value tag1 tag2 endpoint feedbackURI feedbackURIType feedbackHash isRevoked createdAt
  revokedAt feedbackFile { id feedbackId proofOfPaymentFromAddress proofOfPaymentToAddress proofOfPaymentChainId proofOfPaymentTxHash }
  responses { id responder responseUri responseHash createdAt } } }`

function subgraphLists({ agents }: RegistrationsSize): List[] {
  const posted = (name: string, size: number, of: (n: number) => object): List => ({
    name: `subgraph ${name}`,
    rows: size,
    ask: (n) => ({ path: `/subgraph/${chain.id}`, body: JSON.stringify(of(n)) }),
  })
  const page = { skip: 0, orderBy: 'updatedAt', orderDirection: 'desc' }
  const found = (name: string, where: (n: number) => object): List[] =>
    [rows, 1_000].map((first) =>
      posted(`agents: ${name}${first === rows ? '' : ', by the thousand'}`, first, (n) => ({
        query: search,
        variables: { ...page, first: first - (n % 50), where: { and: [{ registrationFile_not: null }, where(n)] } },
      })),
    )
  const inFile = (of: (n: number) => object) => (n: number) => ({ registrationFile_: of(n) })
  const id = (n: number) => `${chain.id}:${1 + ((n * 7_919) % agents)}`
  return [
    ...found('no filter', () => ({})),
    ...found(
      'name',
      inFile((n) => ({ name_contains_nocase: `SCOUT ${n}` })),
    ),
    ...found(
      'description',
      inFile((n) => ({ description_contains_nocase: `${createHash('md5').update(`${n}`).digest('hex').slice(0, 5)}` })),
    ),
    ...found('owners', (n) => ({ owner_in: [address('owner', n)] })),
    ...found('operators', (n) => ({ or: [{ operators_contains: [address('operator', n)] }] })),
    ...found('wallet', (n) => ({ agentWallet: address('wallet', n) })),
    ...found(
      'trust',
      inFile(() => ({ supportedTrusts_contains: ['tee-attestation'] })),
    ),
    ...found(
      'active',
      inFile((n) => ({ active: n % 2 === 0 })),
    ),
    ...found(
      'x402',
      inFile(() => ({ x402Support: true })),
    ),
    ...found(
      'ens',
      inFile((n) => ({ ens_contains_nocase: `agent${n}` })),
    ),
    ...found(
      'mcp',
      inFile((n) => ({ mcpEndpoint_contains_nocase: `/mcp/${1_000 + n}` })),
    ),
    ...found(
      'has mcp',
      inFile(() => ({ mcpEndpoint_not: null })),
    ),
    ...found(
      'tools',
      inFile((n) => ({ mcpTools_contains: [`tool${n}`] })),
    ),
    ...found(
      'oasf skills',
      inFile((n) => ({ oasfSkills_contains: [`nlp/${n % 60}`] })),
    ),
    ...found('created', (n) => ({ createdAt_gte: seconds(n - 80), createdAt_lte: seconds(n - 70) })),
    ...found('updated', (n) => ({ updatedAt_gte: seconds(n) })),
    ...found('feedback', () => ({ totalFeedback_gt: '0' })),
    posted('agent', 1, (n) => ({ query: getAgent, variables: { agentId: id(n) } })),
    posted('metadata', rows, (n) => ({
      query: metadata,
      variables: { first: rows, skip: 0, where: { key: n % 2 ? 'rare' : 'category' } },
    })),
    posted('feedbacks: none but tags', rows, (n) => ({
      query: feedbacks,
      variables: {
        ...page,
        orderBy: 'createdAt',
        first: rows,
        where: { or: [{ tag1: 'starred' }, { tag2: 'starred' }], value_gte: n },
      },
    })),
    posted('feedbacks: of a client', rows, (n) => ({
      query: feedbacks,
      variables: {
        ...page,
        orderBy: 'createdAt',
        first: rows,
        where: { clientAddress_in: [address('client', n)], isRevoked: false },
      },
    })),
    posted('searchFeedback of an agent', rows, (n) => ({
      query: searchFeedback(`agent_in: ["${id(n)}"], isRevoked: false`),
    })),
    posted('searchFeedback of the most rated', rows, () => ({
      query: searchFeedback(`agent_in: ["${chain.id}:${mostRated}"], isRevoked: false, value_gte: 50`),
    })),
  ]
}
