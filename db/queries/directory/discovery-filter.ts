import type { ChainName } from '../../../config/chains.ts'
import { lastSeenAt } from '../sql/lean-row.ts'
import { isAlive } from '../sql/uptime.ts'
import { findsAgent } from './query-text.ts'

/**
 * Filters of agents, combined with AND; null or absent: the filter is not set. A list matches any of its values; an
 * empty list matches nothing.
 */
export interface DiscoveryFilter {
  /** Part of handle, display name or oli in any case; digits: a FID as well; an address: verified by the agent. */
  readonly q: string | null
  readonly chain: readonly ChainName[] | null
  readonly claimed: boolean | null
  readonly spec: boolean | null
  readonly codehost: boolean | null
  readonly status?: readonly string[] | null
  /** Methods of the agent's latest claim. */
  readonly method?: readonly string[] | null
  /** Slugs or names of tags on addresses it verifies, in any case. */
  readonly tag?: readonly string[] | null
  readonly has_settlements?: boolean | null
  /** Fewest settlements since the first block, as digits. */
  readonly min_settlements?: string | null
  /** ISO times; `since` inclusive, `until` exclusive. */
  readonly registered_since?: string | null
  readonly registered_until?: string | null
  readonly seen_since?: string | null
  /** Kinds of a description that was found on its hosts. */
  readonly protocol?: readonly string[] | null
  /** Skills of such descriptions, and those that its registrations declare, in any case. */
  readonly skill?: readonly string[] | null
  /** Names and tags of what its x402 documents and 402 answers say that it sells, in any case. */
  readonly sells?: readonly string[] | null
  /** Whether one answered when it was checked last. */
  readonly alive?: boolean | null
  readonly paid_30d?: boolean | null
  /** What a registration that it holds now says, and how much feedback one was given, as digits. */
  readonly trust?: readonly string[] | null
  readonly active?: boolean | null
  readonly x402?: boolean | null
  readonly min_feedback?: string | null
}

/** A condition over the agent `a` for each filter, with its value as SQL. */
const conditionOf: {
  readonly [name in keyof Required<Omit<DiscoveryFilter, 'q' | 'has_settlements' | DeclaredFilter>>]: (
    value: string,
  ) => string
} = {
  chain: (value) => `a.chains && ${value}::text[]`,
  claimed: (value) => `a.claimed = ${value}`,
  spec: (value) => `a.has_spec = ${value}`,
  codehost: (value) => `a.has_codehost = ${value}`,
  status: (value) => `a.agent_status = any (${value}::text[])`,
  method: (value) => `a.claim_method = any (${value}::text[])`,
  tag: (value) => `a.fid in (
    select t.fid from oli_tag t join agent tagged on tagged.fid = t.fid and t.address = any (tagged.verified_addresses)
     where lower(t.slug) = any (${value}::text[]) or lower(t.name) = any (${value}::text[]))`,
  min_settlements: (value) => `a.settlements_all >= ${value}::bigint`,
  registered_since: (value) => `a.registered_at >= ${value}::timestamptz`,
  registered_until: (value) => `a.registered_at < ${value}::timestamptz`,
  seen_since: (value) => `${lastSeenAt()} >= ${value}::timestamptz`,
  protocol: (value) => `exists (
    select from agent_spec s where s.fid = a.fid and s.has_content and s.kind = any (${value}::text[]))`,
  skill: (value) => `exists (select from ${skillsOf('a.fid')} of where lower(of.skill) = any (${value}::text[]))`,
  sells: (value) => `a.fid in (select s.fid from agent_spec s where sold_words(s.resources) && ${value}::text[])`,
  alive: (value) => `(exists (select from agent_spec s where s.fid = a.fid and ${isAlive})) = ${value}::boolean`,
  paid_30d: (value) => `(a.settlements_30d > 0) = ${value}::boolean`,
}

const says = (terms: string) => `s.declared && ${terms}::text[]`
/** A condition over the row `s` of a searched agent for each filter by what its registrations declare, with its value as SQL. */
const declaredOf = {
  trust: says,
  active: says,
  x402: says,
  min_feedback: (value: string) => `s.most_feedback >= ${value}::bigint`,
}
type DeclaredFilter = keyof typeof declaredOf

/** Whether agents can be counted in `searched_agent` alone: all that is asked for is there. */
export const isDeclared = (filter: DiscoveryFilter): boolean =>
  Object.entries(filter).every(([name, value]) => (value ?? null) === null || name in declaredOf)

/** Conditions over the row `s` of a searched agent by what its registrations declare; none: it does not matter. */
function declaredConditions(filter: DiscoveryFilter, parameter: Parameter): string[] {
  return Object.entries(declaredOf).flatMap(([name, condition]) => {
    const value = filter[name as DeclaredFilter] ?? null
    return value === null
      ? []
      : [condition(parameter(name === 'min_feedback' ? value : [value].flat().map((one) => `${name}:${one}`)))]
  })
}

/** All conditions of a filter that the row `s` of a searched agent decides. */
export function searchedConditions(filter: DiscoveryFilter, parameter: Parameter): string[] {
  const declared = declaredConditions(filter, parameter)
  return filter.q === null ? declared : [findsAgent(filter.q, parameter), ...declared]
}

/** Agents up to which those that fit are found first, and not looked at one by one along an order: words are counted in rows. */
const mostFirst = { words: 5_000, feedback: 20_000 } as const

/**
 * Whether the row of the agent `a` fulfils all conditions. Few are found once; else each is looked up by its key (`offset 0`),
 * as an order is walked: where very many fulfil them, a page of them is near.
 */
function declaring(conditions: readonly string[]) {
  const most = conditions.some((one) => one.includes('declared')) ? mostFirst.words : mostFirst.feedback
  const found = `searched_agent s where ${conditions.join(' and ')}`
  return `case when (select count(*) from (select from ${found} limit ${most} + 1) few) <= ${most}
    then a.fid in (select s.fid from ${found})
    else exists (select from ${found} and s.fid = a.fid offset 0) end`
}

/**
 * A relation: the skills of an agent that the documents on its hosts name, and those that it is found by, which its
 * registrations declare.
 */
export const skillsOf = (fid: string) => `(
select unnest(s.skills) as skill from agent_spec s where s.fid = ${fid} and s.has_content
 union all
select piece ->> 'text' from agent_words w cross join lateral json_array_elements(w.pieces) piece
 where w.fid = ${fid} and piece ->> 'field' = 'skill')`

interface Reading {
  /** FIDs of all agents that `q` and what registrations declare find, as far as they can be named. */
  readonly named: readonly string[] | null
  /** Parameter values that the statement already has; absent: none. */
  readonly before?: readonly unknown[]
  /** Few agents are looked at, those that stand first in an order: the words of each are then sooner read by its FID. */
  readonly isNear?: boolean
}

/** A value as a parameter of the statement: adds it and returns its SQL. */
type Parameter = (value: unknown) => string

interface Conditions {
  /** SQL over the agent `a`. */
  readonly conditions: string[]
  /** Common table expressions that the conditions read. */
  readonly worded: readonly string[]
  /** Values of the parameters of both. */
  readonly values: unknown[]
}

export function filterConditions(filter: DiscoveryFilter, reading: Reading): Conditions {
  const values = [...(reading.before ?? [])]
  const parameter = (value: unknown) => `$${values.push(value)}`
  const { q, has_settlements: paid = null, ...rest } = filter
  const found = q === null || reading.named ? { conditions: [], worded: [] } : foundBy(q, reading, parameter)
  const declared = reading.named ? [] : declaredConditions(filter, parameter)
  const conditions = [
    ...(reading.named ? [`a.fid in (select unnest(${parameter(reading.named)}::bigint[]))`] : []),
    ...found.conditions,
    ...Object.entries(conditionOf).flatMap(([name, condition]) => {
      const value = rest[name as keyof typeof rest] ?? null
      return value === null ? [] : [condition(parameter(value))]
    }),
    ...(declared.length === 0 ? [] : [declaring(declared)]),
    ...(paid === null ? [] : [`a.settlements_all ${paid ? '> 0' : '= 0'}`]),
  ]
  return { conditions, worded: found.worded, values }
}

/**
 * What `q` finds. Near the beginning of an order each agent is looked up by its FID (`offset 0` keeps
 * the planner from reading all that fit first); else all that fit are found once, before anything else.
 */
function foundBy(q: string, { isNear }: Reading, parameter: Parameter) {
  const found = findsAgent(q, parameter)
  if (isNear) {
    return {
      conditions: [`exists (select from searched_agent s where s.fid = a.fid and ${found} offset 0)`],
      worded: [],
    }
  }
  const worded = `worded as materialized (select s.fid from searched_agent s where ${found})`
  // `is true` keeps the planner from a join, which would lose the order of an index that is walked and read it to its end. A
  // hash of two million FIDs fits into the memory of a statement.
  return { conditions: ['(a.fid in (select fid from worded)) is true'], worded: [worded] }
}

/** SQL: the `with` of a statement; empty without common table expressions. */
export const withOf = (expressions: readonly string[]) =>
  expressions.length === 0 ? '' : `with ${expressions.join(',\n')}`
