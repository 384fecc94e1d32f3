import type { AddressFacts, FidFacts, VerificationFact } from '../../db/queries/read/explain.ts'
import type { AddressExplanation, AgentExplanation, ExplainedRule } from '../schemas/explain.ts'

/** The rules of docs/rules.md 6, each with what was found and what would make it hold. */
export function explainFid(fid: number, facts: FidFacts): AgentExplanation {
  const { agent_status, verifications, is_queued, sources, chains } = facts
  const rules = [
    verifiedRule(`FID ${fid}`, verifications),
    tokenRule(verifications),
    historyRule(verifications),
    claimRule(facts),
  ]
  return {
    fid,
    in_index: agent_status !== null,
    agent_status: agent_status as AgentExplanation['agent_status'],
    summary: `FID ${fid} ${standing(agent_status, is_queued)}`,
    rules,
    verifications: verifications as AgentExplanation['verifications'],
    is_queued,
    sources,
    chains: chains as AgentExplanation['chains'],
  }
}

const reasons: Record<string, string> = {
  active: 'is in the index and active: a verified address owns an ERC-8004 token.',
  historical: 'is in the index and historical: a verified address once owned an ERC-8004 token, and none does now.',
  'claimed-only': 'is in the index and claimed-only: it was claimed, and no verified address ever owned a token.',
}

function standing(status: string | null, isQueued: boolean): string {
  const reason =
    (status && reasons[status]) ??
    'is not in the index: it was not claimed, and no verified address owns or owned a token that is indexed.'
  return isQueued ? `${reason} Something has happened since; the entry is being worked out anew.` : reason
}

const isLive = ({ ended_at }: VerificationFact) => ended_at === null

function verifiedRule(who: string, verifications: readonly VerificationFact[]): ExplainedRule {
  const live = verifications.filter(isLive)
  const ended = verifications.length - live.length
  const found = `${who} verifies ${counted(live.length, 'address', 'addresses')}${ended > 0 ? `, and ${ended} no more` : ''}`
  const next =
    'verify an Ethereum address in the account’s settings; custody and auth addresses do not count, and a change ' +
    'shows here within two minutes'
  return { rule: 'verified', holds: live.length > 0, found, next: live.length > 0 ? null : next }
}

function tokenRule(verifications: readonly VerificationFact[]): ExplainedRule {
  const holders = verifications.filter((one) => isLive(one) && one.tokens > 0)
  const tokens = sum(holders.map((holder) => holder.tokens))
  const labels = [...new Set(holders.flatMap(({ chains }) => chains))]
  const found =
    tokens > 0
      ? `verified addresses own ${counted(tokens, 'token', 'tokens')} on ${labels.join(', ')}`
      : 'no verified address owns a token'
  const next = 'register an agent with a verified address, or verify the address that owns the token'
  return { rule: 'token', holds: tokens > 0, found, next: tokens > 0 ? null : next }
}

function historyRule(verifications: readonly VerificationFact[]): ExplainedRule {
  const former = sum(verifications.map((one) => one.former_tokens + (isLive(one) ? 0 : one.tokens)))
  const found =
    former > 0
      ? `addresses that verify or verified it had ${counted(former, 'token', 'tokens')} that it has no more`
      : 'no holding of such an address has ended'
  return { rule: 'history', holds: former > 0, found, next: null }
}

function claimRule({ claim_method, claimed_at }: Pick<FidFacts, 'claim_method' | 'claimed_at'>): ExplainedRule {
  if (claimed_at)
    return { rule: 'claim', holds: true, found: `claimed by ${claim_method} since ${claimed_at}`, next: null }
  const next = 'prove control of it with POST /api/claim; an agent is listed without that too'
  return { rule: 'claim', holds: false, found: 'nobody has claimed it', next }
}

/** Explains an address: which accounts verify it, what it holds, which agent it leads to, and why. */
export function explainAddress(address: string, facts: AddressFacts): AddressExplanation {
  const { fid, tokens, former_tokens, token_chains, verifications, sources, chains } = facts
  const live = verifications.filter(isLive)
  const verifiers = live.map((one) => `FID ${one.fid}`)
  const rules: ExplainedRule[] = [
    {
      rule: 'verified',
      holds: live.length > 0,
      found: live.length > 0 ? `verified by ${verifiers.join(', ')}` : 'no account is known to verify it',
      next: live.length > 0 ? null : 'verify it in the settings of the account it belongs to',
    },
    {
      rule: 'token',
      holds: tokens > 0,
      found: tokens > 0 ? `owns ${counted(tokens, 'token', 'tokens')} on ${token_chains.join(', ')}` : 'owns no token',
      next: tokens > 0 ? null : 'register an agent with it',
    },
    {
      rule: 'history',
      holds: former_tokens > 0,
      found: `had ${counted(former_tokens, 'token', 'tokens')} that it has no more`,
      next: null,
    },
  ]
  const summary =
    fid !== null
      ? `${address} leads to the agent with FID ${fid}.`
      : `${address} leads to no agent: ${missing(live.length > 0, tokens > 0)}.`
  return {
    address,
    in_index: fid !== null,
    fid,
    summary,
    rules,
    verifications: verifications as AddressExplanation['verifications'],
    sources,
    chains: chains as AddressExplanation['chains'],
  }
}

function missing(isVerified: boolean, holdsToken: boolean): string {
  if (isVerified) return 'the account that verifies it has no token at a verified address and was not claimed'
  return holdsToken ? 'it owns a token, and no account verifies it' : 'no account verifies it, and it owns no token'
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)
const counted = (n: number, one: string, many: string) => (n === 0 ? `no ${one}` : `${n} ${n === 1 ? one : many}`)
