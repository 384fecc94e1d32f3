import type { ChainName } from '../../../chains.config.ts'

/** Which agents; null or absent: no filter. Of a list any; an empty one matches nothing. All filters combine with AND. */
export interface DiscoveryFilter {
  /** Part of handle, display name or oli in any case; all digits: also the fid; an address: verified by the agent. */
  readonly q: string | null
  readonly chain: readonly ChainName[] | null
  readonly claimed: boolean | null
  readonly spec: boolean | null
  readonly codehost: boolean | null
  readonly status?: readonly string[] | null
  /** How it was claimed last. */
  readonly method?: readonly string[] | null
  /** Slugs or names of tags on addresses it verifies, in any case. */
  readonly tag?: readonly string[] | null
  readonly has_settlements?: boolean | null
  /** Since the first block, digits. */
  readonly min_settlements?: string | null
  /** ISO times; `since` inclusive, `until` exclusive. */
  readonly registered_since?: string | null
  readonly registered_until?: string | null
  readonly seen_since?: string | null
}

/** A condition over the agent `a` for each filter, with its value as SQL. */
const conditionOf: {
  readonly [name in keyof Required<Omit<DiscoveryFilter, 'q' | 'has_settlements'>>]: (value: string) => string
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
  seen_since: (value) =>
    `greatest(a.registry_event_at, a.last_settlement_at, a.last_message_at, a.last_alive_at) >= ${value}::timestamptz`,
}

/** Conditions over the agent `a`, and the values they name as parameters from the first on. */
export function filterConditions(filter: DiscoveryFilter): { conditions: string[]; values: unknown[] } {
  const values: unknown[] = []
  const parameter = (value: unknown) => `$${values.push(value)}`
  const { q, has_settlements: paid = null, ...rest } = filter
  const conditions = [
    ...(q === null ? [] : [matches(q, parameter)]),
    ...Object.entries(conditionOf).flatMap(([name, condition]) => {
      const value = rest[name as keyof typeof rest] ?? null
      return value === null ? [] : [condition(parameter(value))]
    }),
    ...(paid === null ? [] : [`a.settlements_all ${paid ? '> 0' : '= 0'}`]),
  ]
  return { conditions, values }
}

const largestFid = 9_223_372_036_854_775_807n // of a bigint column

function matches(q: string, parameter: (value: unknown) => string): string {
  if (/^0x[0-9a-f]{40}$/i.test(q)) {
    const address = parameter(Buffer.from(q.slice(2), 'hex'))
    return `a.fid in (select fid from verified_address where address = ${address} and ended_at is null)`
  }
  const pattern = `%${q.replace(/[\\%_]/g, '\\$&')}%`
  // Lowercased as the column is: JavaScript has other rules for a few letters.
  const contains = `a.search like lower(${parameter(pattern)}::text)`
  const isFid = /^[0-9]+$/.test(q) && BigInt(q) <= largestFid
  return isFid ? `(${contains} or a.fid = ${parameter(q)}::bigint)` : contains
}
