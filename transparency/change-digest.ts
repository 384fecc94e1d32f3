import { createHash } from 'node:crypto'

/**
 * The fields of a profile that the digest of a change is over, in the order of their names: docs/log.md. SQL
 * computes the same in db/queries/agents/agents.ts.
 */
const digested = [
  'agent_status',
  'bio',
  'chain_names',
  'claim_method',
  'claim_state',
  'claimed',
  'claimed_at',
  'display_name',
  'erc8004_total',
  'fid',
  'handle',
  'handle_assurance',
  'historical_total',
  'oli',
  'pfp_url',
  'registered_at',
  'spec_check_status',
  'verified_addresses',
] as const

/** Digest of a profile as an entry of the log has it: SHA-256 in hex, of canonical JSON, which has no objects in it here. */
export function changeDigest(profile: Readonly<Record<string, unknown>>): string {
  const told = Object.fromEntries(digested.map((field) => [field, profile[field] ?? null]))
  return createHash('sha256').update(JSON.stringify(told)).digest('hex')
}

/** A change of an agent, as an entry tells it. */
export interface LoggedChange {
  readonly fid: number
  /** Place in the log of profiles. */
  readonly seq: number
  /** Null: the agent left. */
  readonly digest: string | null
}

/** The change that an entry tells. Undefined: it tells something else. */
export function changeIn(said: Readonly<Record<string, unknown>> | null): LoggedChange | undefined {
  const { type, fid, seq, digest } = said ?? {}
  if (type !== 'change' || !Number.isSafeInteger(fid) || !Number.isSafeInteger(seq)) return undefined
  if (digest !== null && typeof digest !== 'string') return undefined
  return { fid: fid as number, seq: seq as number, digest }
}
