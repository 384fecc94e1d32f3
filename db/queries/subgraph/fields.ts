import { subgraphLimits } from '../../../config/limits.protocols.ts'
import { profileLimits, readingLimits } from '../../../config/limits.ts'
import { feedbackValue, shownTag } from '../sql/feedback.ts'
import { chainId, hex } from '../sql/json-text.ts'
import { othersMayAct } from '../sql/registration-objects.ts'

/** Kinds of fields: how a value is written in a filter, compared in SQL, and shown. */
export type Kind = 'text' | 'bytes' | 'integer' | 'decimal' | 'time' | 'flag' | 'texts' | 'addresses'

export interface Field {
  readonly kind: Kind
  /** SQL over the rows of the entity: what filters compare. */
  readonly sql: string
  /** SQL of what is shown, as text or JSON; absent: `sql` itself, as its kind is shown. */
  readonly shown?: string
  /** Whether the answer may be without it. */
  readonly optional?: true
  /** Filters by a part of the text are about this column of `searched_registration`, which is indexed for them. */
  readonly searched?: 'name' | 'description'
  /** Term of `searched_registration` that every row has in which this is the value, or in the list. */
  readonly term?: (value: string) => string
  /** SQL of what holds of every row in which this is a value, given as SQL, and what has an index. */
  readonly begins?: (value: string) => string
  /** Whether it is who may act for a registration, which is looked up before. */
  readonly acts?: true
  /** Query over its terms that every row fits in which this is not null, or true. */
  readonly terms?: string
}

/** SQL: the services of a file `d`, of which `e` has them in a form that is read once for all fields. */
const services = 'jsonb_array_elements(e.services) service'
const named = (name: string) => `lower(service ->> 'name') = '${name}'`
const oasf = `lower(service ->> 'name') like 'oasf%'`

/** SQL: what the first service of a name says; null: there is none. */
const ofService = (of: string, member: string) =>
  `(select service ->> '${member}' from ${services} where ${of} and service ->> 'endpoint' is not null limit 1)`
/** SQL: a list of what the services of a name are said to be able to do. */
const declared = (of: string, list: string) =>
  `array(select word from ${services} cross join lateral jsonb_array_elements_text(service -> 'declared' -> '${list}') word
          where ${of})`

const endpoint = (name: string, of = named(name), terms = `'service:${name}'`): Field => ({
  kind: 'text',
  sql: ofService(of, 'endpoint'),
  optional: true,
  terms,
})
const version = (of: string): Field => ({ kind: 'text', sql: ofService(of, 'version'), optional: true })
const words = (filter: string, sql: string): Field => ({
  kind: 'texts',
  sql,
  term: (word) => `${filter}:${word.toLowerCase()}`,
})
const anyOasf = `('oasf_skill:':* | 'oasf_domain:':*)`
const oasfSkills = declared(oasf, 'skills')
const oasfDomains = declared(oasf, 'domains')

/** SQL: where a URI leads, by its form. */
const uriType = (uri: string) => `case
    when ${uri} is null or ${uri} = '' then null
    when ${uri} ~* '^data:' then 'data'
    when ${uri} ~* '^ipfs://' or ${uri} ~ '^(Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{50,})(/|$)' or ${uri} ~* '^https?://[^/]+/ipfs/' then 'ipfs'
    when ${uri} ~* '^https://' then 'https'
    when ${uri} ~* '^http://' then 'http'
    else 'unknown' end`
/** SQL: the CID in a URI of IPFS. */
const cid = (uri: string) =>
  `substring(${uri} from '^(?:ipfs://(?:ipfs/)?|https?://[^/]+/ipfs/)?(Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{50,})(?:/|$)')`
const ofAgent = (row: string) => `${chainId(`${row}.chain`)} || ':' || ${row}.agent_id`
const ofFeedback = (row: string) => `${ofAgent(row)} || ':' || ${hex(`${row}.client`)} || ':' || ${row}.feedback_index`
const short = (text: string, most: number) => `case when octet_length(${text}) <= ${most} then ${text} end`
const time = (sql: string, more: Partial<Field> = {}): Field => ({ kind: 'time', sql, ...more })
const text = (sql: string, more: Partial<Field> = {}): Field => ({ kind: 'text', sql, ...more })

/** SQL: a list of the addresses in some rows, each once. */
const addressesOf = (rows: string) => `array(select distinct ${hex('o.address')} from ${rows} o order by 1)`

/** SQL: id of a registration file `d`: whose it is, and the digest of the URI that it was read from. */
export const fileId = `case when d.uri_sha256 is not null then ${ofAgent('d')} || ':0x' || encode(d.uri_sha256, 'hex') end`

/** What a registration file `d` says. */
export const fileFields = {
  id: text(fileId),
  cid: text(cid('r.agent_uri'), { optional: true }),
  agentId: text(ofAgent('d')),
  name: text('d.name', { optional: true, searched: 'name' }),
  description: text('d.description', { optional: true, searched: 'description' }),
  image: text('d.image', { optional: true }),
  active: { kind: 'flag', sql: 'd.active', optional: true, term: (value) => `active:${value}` },
  x402Support: { kind: 'flag', sql: 'd.x402_support', optional: true, term: (value) => `x402:${value}` },
  supportedTrusts: words('trust', 'array(select json_array_elements_text(d.supported_trust))'),
  endpointsRawJson: text('d.services::text', { optional: true }),
  mcpEndpoint: endpoint('mcp'),
  mcpVersion: version(named('mcp')),
  a2aEndpoint: endpoint('a2a'),
  a2aVersion: version(named('a2a')),
  webEndpoint: endpoint('web'),
  oasfEndpoint: { ...endpoint('oasf', oasf, `'service:oasf':*`) },
  oasfVersion: version(oasf),
  oasfSkills: words('oasf_skill', oasfSkills),
  oasfDomains: words('oasf_domain', oasfDomains),
  hasOASF: { kind: 'flag', sql: `(cardinality(${oasfSkills}) + cardinality(${oasfDomains}) > 0)`, terms: anyOasf },
  emailEndpoint: endpoint('email'),
  ens: endpoint('ens'),
  did: endpoint('did'),
  mcpTools: words('tool', declared(named('mcp'), 'tools')),
  mcpPrompts: words('prompt', declared(named('mcp'), 'prompts')),
  mcpResources: words('resource', declared(named('mcp'), 'resources')),
  a2aSkills: words('skill', declared(named('a2a'), 'skills')),
  createdAt: time('d.updated_at'),
} satisfies Record<string, Field>

/** Operators that a row shows: each of a thousand rows looks at its owner's, who may be the same one with very many. */
const operatorsShown = { most: readingLimits.controlOperators, looked: readingLimits.controlOperators }

/** What is known of a registration: its rows `s`, `r` and, where its file was read, `d`. */
export const agentFields = {
  chainId: { kind: 'integer', sql: chainId('s.chain') },
  agentId: { kind: 'integer', sql: 's.agent_id' },
  agentURI: text('r.agent_uri', { optional: true, shown: short('r.agent_uri', profileLimits.uriBytes) }),
  agentURIType: text(uriType('r.agent_uri'), { optional: true }),
  owner: { kind: 'bytes', sql: 'r.owner', term: (value) => `owner:${value}` },
  agentWallet: { kind: 'bytes', sql: 'r.agent_wallet', optional: true, term: (value) => `wallet:${value}` },
  operators: {
    kind: 'addresses',
    sql: addressesOf(othersMayAct()),
    shown: `to_json(${addressesOf(othersMayAct(operatorsShown))})`,
    acts: true,
  },
  createdAt: time('s.registered_at'),
  updatedAt: time('s.moved_at'),
  totalFeedback: { kind: 'integer', sql: 's.feedback_count' },
  lastActivity: time('s.active_at'),
} satisfies Record<string, Field>

export const feedbackFields = {
  clientAddress: { kind: 'bytes', sql: 'f.client' },
  feedbackIndex: { kind: 'integer', sql: 'f.feedback_index' },
  value: { kind: 'decimal', sql: feedbackValue('f') },
  tag1: text('f.tag1', { shown: shownTag('f.tag1') }),
  tag2: text('f.tag2', { shown: shownTag('f.tag2') }),
  endpoint: text('f.endpoint', { optional: true, shown: short('f.endpoint', profileLimits.feedbackUriCharacters) }),
  feedbackURI: text('f.feedback_uri', {
    optional: true,
    shown: short('f.feedback_uri', profileLimits.feedbackUriCharacters),
  }),
  feedbackURIType: text(uriType('f.feedback_uri'), { optional: true }),
  feedbackHash: { kind: 'bytes', sql: 'f.feedback_hash' },
  isRevoked: { kind: 'flag', sql: '(f.revoked_block is not null)' },
  createdAt: time('f.block_timestamp'),
  revokedAt: time('f.revoked_at', { optional: true }),
} satisfies Record<string, Field>

/** What is kept of a file `k` that a feedback `f` names: whose it is, and the payment in it. */
export const feedbackFileFields = {
  id: text(`${ofFeedback('f')} || ':0x' || encode(k.uri_sha256, 'hex')`),
  cid: text(cid('f.feedback_uri'), { optional: true }),
  feedbackId: text(ofFeedback('f')),
  agentId: { kind: 'integer', sql: 'f.agent_id' },
  clientAddress: text(hex('f.client')),
  valueRaw: { kind: 'integer', sql: 'f.value' },
  valueDecimals: { kind: 'integer', sql: 'f.value_decimals', shown: 'f.value_decimals' },
  proofOfPaymentFromAddress: text(hex('k.payment_from'), { optional: true }),
  proofOfPaymentToAddress: text(hex('k.payment_to'), { optional: true }),
  proofOfPaymentChainId: text('k.payment_chain_id::text', { optional: true }),
  proofOfPaymentTxHash: text(hex('k.payment_tx'), { optional: true }),
  createdAt: time('k.read_at'),
} satisfies Record<string, Field>

export const responseFields = {
  responder: { kind: 'bytes', sql: 'a.responder' },
  responseUri: text('a.response_uri', {
    optional: true,
    shown: short('a.response_uri', profileLimits.feedbackUriCharacters),
  }),
  responseHash: { kind: 'bytes', sql: 'a.response_hash' },
  createdAt: time('a.block_timestamp'),
} satisfies Record<string, Field>

export const metadataFields = {
  key: text('m.key', { begins: (key) => `left(m.key, 64) = left(${key}, 64)` }),
  value: {
    kind: 'bytes',
    sql: 'm.value',
    optional: true,
    shown: `case when octet_length(m.value) <= ${subgraphLimits.metadataBytes} then ${hex('m.value')} end`,
  },
  updatedAt: time('m.block_timestamp'),
} satisfies Record<string, Field>

/** SQL of ids as the answers have them. */
export const ids = { ofAgent, ofFeedback }
