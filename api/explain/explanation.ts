import type { AddressFacts, FidFacts, VerificationFact } from '../../db/queries/agents/explain.ts'
import type { AddressExplanation, AgentExplanation, ExplainedRule } from '../schemas/agents/explain.ts'

/** Explains why an account is or is not listed: each rule of docs/rules.md 6, what was found, what would fulfil it. */
export function explainFid(fid: number, facts: FidFacts): AgentExplanation {
  const { agent_status, verifications, is_queued, sources, chains, ens_names } = facts
  const rules = [
    verifiedRule(`FID ${fid}`, verifications),
    registrationRule(verifications),
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
    ens_names: ens_names as AgentExplanation['ens_names'],
    doctor: agent_status === null ? null : `/api/agent/${fid}/doctor`,
    is_queued,
    sources,
    chains: chains as AgentExplanation['chains'],
  }
}

const reasons: Record<string, string> = {
  active: 'is listed as active: a verified address holds an ERC-8004 registration.',
  historical: 'is listed as historical: a verified address once held an ERC-8004 registration, and none does now.',
  'claimed-only':
    'is listed as claimed-only: it was claimed, and no verified address ever held an ERC-8004 registration.',
}

function standing(status: string | null, isQueued: boolean): string {
  const reason =
    (status && reasons[status]) ??
    'is not listed: it was not claimed, and no verified address holds or held an ERC-8004 registration on an indexed chain.'
  return isQueued ? `${reason} Something has happened since: its entry is being computed again.` : reason
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

function registrationRule(verifications: readonly VerificationFact[]): ExplainedRule {
  const holders = verifications.filter((one) => isLive(one) && one.tokens > 0)
  const held = sum(holders.map((holder) => holder.tokens))
  const labels = [...new Set(holders.flatMap(({ chains }) => chains))]
  const found =
    held > 0
      ? `verified addresses hold ${registrations(held)} on ${labels.join(', ')}`
      : 'no verified address holds an ERC-8004 registration'
  const next = 'register an agent with a verified address, or verify the address that holds its registration'
  return { rule: 'token', holds: held > 0, found, next: held > 0 ? null : next }
}

function historyRule(verifications: readonly VerificationFact[]): ExplainedRule {
  const former = sum(verifications.map((one) => one.former_tokens + (isLive(one) ? 0 : one.tokens)))
  const found =
    former > 0
      ? `its addresses, present and former, once held ${registrations(former)} that no longer count`
      : 'no registration was ever passed on, burned or lost with an address'
  return { rule: 'history', holds: former > 0, found, next: null }
}

function claimRule({ claim_method, claimed_at }: Pick<FidFacts, 'claim_method' | 'claimed_at'>): ExplainedRule {
  if (claimed_at)
    return { rule: 'claim', holds: true, found: `claimed by ${claim_method} since ${claimed_at}`, next: null }
  const next = 'prove that it is yours with POST /api/claim; an agent is listed without a claim, too'
  return { rule: 'claim', holds: false, found: 'nobody has claimed it', next }
}

/** Explains an address: which accounts verify it, what it holds, which agent it leads to, and why. */
export function explainAddress(address: string, facts: AddressFacts): AddressExplanation {
  const { fid, tokens: held, former_tokens: former, token_chains, verifications, sources, chains } = facts
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
      holds: held > 0,
      found: held > 0 ? `holds ${registrations(held)} on ${token_chains.join(', ')}` : 'holds no ERC-8004 registration',
      next: held > 0 ? null : 'register an agent with it',
    },
    {
      rule: 'history',
      holds: former > 0,
      found:
        former > 0 ? `once held ${registrations(former)} that it passed on or burned` : 'has passed on or burned none',
      next: null,
    },
  ]
  const summary =
    fid !== null
      ? `${address} leads to the agent with FID ${fid}.`
      : `${address} leads to no agent: ${missing(live.length > 0, held > 0)}.`
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

function missing(isVerified: boolean, isHolder: boolean): string {
  if (isVerified)
    return 'the account that verifies it has no ERC-8004 registration at a verified address and was not claimed'
  return isHolder
    ? 'it holds an ERC-8004 registration, and no account verifies it'
    : 'no account verifies it, and it holds no ERC-8004 registration'
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)
const counted = (n: number, one: string, many: string) => (n === 0 ? `no ${one}` : `${n} ${n === 1 ? one : many}`)
const registrations = (n: number) => counted(n, 'ERC-8004 registration', 'ERC-8004 registrations')
