import { type ChainName, chainNames, chainOf, findChain } from '../../../config/chains.ts'
import { hex } from '../sql/json-text.ts'
import {
  agentFields,
  type Field,
  feedbackFields,
  feedbackFileFields,
  fileFields,
  fileId,
  ids,
  metadataFields,
  responseFields,
} from './fields.ts'

/** Columns by which a list can be asked for: of a chain, of a registration, of one feedback, of one value of metadata. */
export const scopeColumns = {
  chain: ['chain'],
  agent: ['chain', 'agent_id'],
  feedback: ['chain', 'agent_id', 'client', 'feedback_index'],
  metadata: ['chain', 'agent_id', 'key'],
} as const
export type ScopeKind = keyof typeof scopeColumns
/** Values of the columns of a scope. */
export type Scope = readonly string[]

/** A field with the id of a row of this or another entity. */
export interface IdField {
  /** Columns that an id names, in its order; the first is the chain. */
  readonly columns: readonly string[]
  readonly shown: string
  /** The scope that an id names; undefined: it is no id. */
  readonly read: (id: string) => Scope | undefined
  /** Kind of the scopes that it names, where rows can be asked for by them. */
  readonly scope?: ScopeKind
}

export interface Entity {
  readonly fields: Readonly<Record<string, Field>>
  readonly ids: { readonly id: IdField } & Readonly<Record<string, IdField>>
  /** Files that belong to a row, each with the SQL that is true where there is one. */
  readonly files: Readonly<
    Record<string, { readonly exists: string; readonly fields: Readonly<Record<string, Field>> }>
  >
  /** Fields that are only filtered by. */
  readonly filtered?: Readonly<Record<string, Field>>
  /** FROM clause of its rows. */
  readonly rows: string
  /** Columns that identify a row, the chain first. */
  readonly key: readonly string[]
  /** Conditions of the rows of a scope, by its kind. */
  readonly scopes: Readonly<Partial<Record<ScopeKind, string>>>
  /** `key`: what it is in the order of; `within`: columns that give the same order in one scope, by its kind. */
  readonly orders: Readonly<Record<string, Order>>
}

export interface Order {
  readonly key: string
  readonly within: Readonly<Partial<Record<ScopeKind, readonly string[]>>> | readonly string[]
}

const chainsById = (id: string): ChainName | undefined => {
  const name = /^[0-9]{1,20}$/.test(id) ? findChain(id) : undefined
  return name !== undefined && String(chainOf(name).id) === id ? name : undefined
}
const number = /^[0-9]{1,78}$/
/** A number in its one spelling, by which the same row is seen to be asked for twice. */
const plain = (digits: string) => String(BigInt(digits))
const ofAgent = (id: string): Scope | undefined => {
  const [chain = '', agent = '', ...others] = id.split(':')
  const name = chainsById(chain)
  return name !== undefined && number.test(agent) && others.length === 0 ? [name, plain(agent)] : undefined
}
const ofFeedback = (id: string): Scope | undefined => {
  const [chain, agent, client = '', index = '', ...others] = id.split(':')
  const scope = ofAgent(`${chain}:${agent}`)
  const isOne = /^0x[0-9a-f]{40}$/i.test(client) && /^[0-9]{1,20}$/.test(index) && others.length === 0
  return scope && isOne ? [...scope, `\\x${client.slice(2).toLowerCase()}`, plain(index)] : undefined
}
const ofMetadata = (id: string): Scope | undefined => {
  const [, agent = '', key = ''] = /^([^:]*:[^:]*):(.*)$/s.exec(id) ?? []
  const scope = ofAgent(agent)
  return scope && !key.includes('\0') ? [...scope, key] : undefined
}

const agentId = (row: string): IdField => ({
  columns: [`${row}.chain`, `${row}.agent_id`],
  shown: ids.ofAgent(row),
  read: ofAgent,
  scope: 'agent',
})
const feedbackId = (row: string): IdField => ({
  columns: [`${row}.chain`, `${row}.agent_id`, `${row}.client`, `${row}.feedback_index`],
  shown: ids.ofFeedback(row),
  read: ofFeedback,
  scope: 'feedback',
})

const registration = `searched_registration s
  join registration r on r.chain = s.chain and r.agent_id = s.agent_id`
/** Parsed once for a row, however many fields are of services; not at all where none is. */
const parsed = `
  left join lateral (select d.services::jsonb as services offset 0) e on true`
const file = { exists: 'd.uri_sha256 is not null', fields: fileFields }
const isAgent = (row: string) => `${row}.chain = scope.chain and ${row}.agent_id = scope.agent_id`
const isFeedback = (row: string) =>
  `${isAgent(row)} and ${row}.client = scope.client and ${row}.feedback_index = scope.feedback_index`
const byChain = (row: string) => `${row}.chain = scope.chain`
const inOrder = (key: string, ...others: string[]): Order => ({ key, within: [key, ...others] })

/** By as much of the name as the index of this order has. */
const byName = inOrder(`left(coalesce(s.name, ''), 200)`, 's.agent_id')

const agents: Entity = {
  fields: agentFields,
  ids: { id: agentId('s') },
  files: { registrationFile: file },
  filtered: { registrationFile: { kind: 'text', sql: fileId, optional: true } },
  rows: `${registration}
  left join registration_document d on d.chain = s.chain and d.agent_id = s.agent_id${parsed}`,
  key: ['s.chain', 's.agent_id'],
  scopes: { chain: byChain('s'), agent: isAgent('s') },
  orders: {
    id: { key: 's.chain', within: ['s.agent_id'] },
    chainId: { key: 's.chain', within: ['s.agent_id'] },
    agentId: inOrder('s.agent_id'),
    createdAt: inOrder('s.registered_at', 's.agent_id'),
    updatedAt: inOrder(agentFields.updatedAt.sql, 's.agent_id'),
    totalFeedback: inOrder('s.feedback_count', 's.agent_id'),
    lastActivity: inOrder(agentFields.lastActivity.sql, 's.agent_id'),
    name: byName,
  },
}

const files: Entity = {
  fields: fileFields,
  ids: {
    id: {
      columns: ['d.chain', 'd.agent_id', `encode(d.uri_sha256, 'hex')`],
      shown: fileId,
      read(id) {
        const [, agent = '', digest = ''] = /^(.*):0x([0-9a-f]{64})$/i.exec(id) ?? []
        const scope = ofAgent(agent)
        return scope && [...scope, digest.toLowerCase()]
      },
    },
    agentId: agentId('d'),
  },
  files: {},
  rows: `${registration}
  join registration_document d on d.chain = s.chain and d.agent_id = s.agent_id and d.uri_sha256 is not null${parsed}`,
  key: ['d.chain', 'd.agent_id'],
  scopes: { chain: byChain('s'), agent: isAgent('s') },
  orders: {
    id: { key: 's.chain', within: ['s.agent_id'] },
    createdAt: inOrder('d.updated_at', 's.agent_id'),
    name: byName,
  },
}

// In a chain the order of blocks is that of their times, and has an index; of one registration, times have one.
const feedbackTime: Order = {
  key: 'f.block_timestamp',
  within: {
    chain: ['f.block_number', 'f.log_index'],
    agent: ['f.block_timestamp', 'f.block_number', 'f.log_index'],
    feedback: ['f.block_number'],
  },
}
const feedbacks: Entity = {
  fields: feedbackFields,
  ids: { id: feedbackId('f'), agent: agentId('f') },
  files: { feedbackFile: { exists: 'k.feedback_id is not null', fields: feedbackFileFields } },
  rows: `feedback f left join feedback_file k on k.feedback_id = f.id and k.status = 'ok'`,
  key: ['f.chain', 'f.id'],
  scopes: {
    chain: byChain('f'),
    agent: isAgent('f'),
    feedback: `f.id = concat_ws('-', scope.chain, scope.agent_id, ${hex('scope.client')}, scope.feedback_index)`,
  },
  orders: {
    id: { key: 'f.chain', within: ['f.agent_id', 'f.client', 'f.feedback_index'] },
    createdAt: feedbackTime,
    value: inOrder(feedbackFields.value.sql, 'f.block_number', 'f.log_index'),
  },
}

const responses: Entity = {
  fields: responseFields,
  ids: {
    id: {
      columns: ['a.chain', 'a.agent_id', 'a.client', 'a.feedback_index', hex('a.tx_hash'), 'a.log_index'],
      shown: `${ids.ofFeedback('a')} || ':' || ${hex('a.tx_hash')} || ':' || a.log_index`,
      read(id) {
        const [, given = '', tx = '', index = ''] = /^(.*):(0x[0-9a-f]{64}):([0-9]{1,9})$/i.exec(id) ?? []
        const scope = ofFeedback(given)
        return scope && [...scope, tx.toLowerCase(), plain(index)]
      },
    },
    feedback: feedbackId('a'),
  },
  files: {},
  rows: 'feedback_response a',
  key: ['a.chain', 'a.id'],
  scopes: { chain: byChain('a'), agent: isAgent('a'), feedback: isFeedback('a') },
  orders: {
    id: { key: 'a.chain', within: ['a.block_number', 'a.log_index'] },
    createdAt: { key: 'a.block_timestamp', within: ['a.block_number', 'a.log_index'] },
  },
}

const metadatas: Entity = {
  fields: metadataFields,
  ids: {
    id: {
      columns: ['m.chain', 'm.agent_id', 'm.key'],
      shown: `${ids.ofAgent('m')} || ':' || m.key`,
      read: ofMetadata,
      scope: 'metadata',
    },
    agent: agentId('m'),
  },
  files: {},
  rows: 'registration_metadata m',
  key: ['m.chain', 'm.id'],
  scopes: {
    chain: byChain('m'),
    agent: isAgent('m'),
    metadata: `${isAgent('m')} and m.key = scope.key`,
  },
  orders: {
    id: { key: 'm.chain', within: ['m.agent_id', 'm.id'] },
    key: inOrder('m.key', 'm.agent_id', 'm.id'),
    updatedAt: inOrder('m.block_timestamp', 'm.agent_id', 'm.id'),
  },
}

/** What can be asked for, by the names of the public schema. */
export const entities = {
  Agent: agents,
  AgentRegistrationFile: files,
  Feedback: feedbacks,
  FeedbackResponse: responses,
  AgentMetadata: metadatas,
} as const satisfies Record<string, Entity>
export type EntityName = keyof typeof entities

/** Scopes of whole chains. */
export const wholeChains = (names: readonly ChainName[] = chainNames): Scope[] => names.map((name) => [name])
