import type { ChainName } from '../../../config/chains.ts'
import { lastSeenAt } from '../sql/lean-row.ts'
import { isAlive } from '../sql/uptime.ts'
import { findsAgent, lexeme } from './query-text.ts'

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
  readonly [name in keyof Required<Omit<DiscoveryFilter, 'q' | 'has_settlements'>>]: (
    value: string,
    isPage: boolean,
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
  trust: (value) => holds(`s.terms @@ ${value}::tsquery`),
  active: (value) => holds(`s.terms @@ ('''active:' || ${value}::boolean || '''')::tsquery`),
  x402: (value) => holds(`s.terms @@ ('''x402:' || ${value}::boolean || '''')::tsquery`),
  min_feedback: (value, isPage) => (isPage ? isRated(value) : holds(`s.feedback_count >= ${value}::bigint`)),
}

/** A value as the statement has it: of words that registrations say, a query that the planner knows, as few or nearly all may say one. */
const asked = (name: string, value: unknown) =>
  name === 'trust' ? (value as string[]).map((word) => lexeme(`trust:${word}`)).join(' | ') || null : value

/** Whether the agent `a` holds a registration `s` now of which a condition is true. */
const holds = (condition: string) => `exists (
    select from agent_holding h join searched_registration s using (chain, agent_id)
     where h.fid = a.fid and h.reason is null and ${condition})`

/** Most registrations with so much feedback that their holders are found first, and not looked for along an order. */
const mostRated = 2_000

/**
 * Whether the agent `a` holds a registration with so much feedback, for a page along an order. Looked for from agent to agent,
 * a registration is read by its key (`+ 0`): an index by feedback would be read to its end for each, as few as have so much;
 * and for each alone (`offset 0`), not all of them before.
 */
const isRated = (least: string) => `case
    when (select count(*) from (select from searched_registration s where s.feedback_count >= ${least}::bigint
                                 limit ${mostRated} + 1) rated) <= ${mostRated}
    then a.fid in (select h.fid from searched_registration s join agent_holding h using (chain, agent_id)
                    where h.reason is null and s.feedback_count >= ${least}::bigint)
    else ${holds(`s.feedback_count + 0 >= ${least}::bigint offset 0`)} end`

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
  /** FIDs of all agents that `q` finds, as far as they can be named. */
  readonly named: readonly string[] | null
  /** Parameter values that the statement already has; absent: none. */
  readonly before?: readonly unknown[]
  /** A page is read, not all of them counted. */
  readonly isPage?: boolean
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
  const found = q === null ? { conditions: [], worded: [] } : foundBy(q, reading, parameter)
  const conditions = [
    ...found.conditions,
    ...Object.entries(conditionOf).flatMap(([name, condition]) => {
      const value = rest[name as keyof typeof rest] ?? null
      return value === null ? [] : [condition(parameter(asked(name, value)), reading.isPage === true)]
    }),
    ...(paid === null ? [] : [`a.settlements_all ${paid ? '> 0' : '= 0'}`]),
  ]
  return { conditions, worded: found.worded, values }
}

/**
 * What `q` finds. Where it is not named, near the beginning of an order each agent is looked up by its FID (`offset 0` keeps
 * the planner from reading all that fit first); else all that fit are found once, before anything else.
 */
function foundBy(q: string, { named, isNear }: Reading, parameter: Parameter) {
  if (named) return { conditions: [`a.fid in (select unnest(${parameter(named)}::bigint[]))`], worded: [] }
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
