import type { PayeeFacts } from '../../db/queries/find/payee.ts'
import type { PayeeAnswer } from '../schemas/explain.ts'

interface Asked {
  readonly payTo: string | null
  readonly network: string | null
  /** Of the paid endpoint; null: none was named. */
  readonly origin: string | null
}

type Evidence = PayeeAnswer['evidence'][number]
type Registered = NonNullable<PayeeFacts['registration']>
const nothing = { chain: null, block_number: null, tx_hash: null, url: null, sha256: null }

/** Whether the address that a seller wants to be paid at is its agent's, with what that rests on: all but the agent. */
export function judgePayee(asked: Asked, facts: PayeeFacts): Omit<PayeeAnswer, 'agent'> {
  const { offer, registration } = facts
  const payTo = asked.payTo ?? offer?.pay_to ?? null
  const ties = registration && asked.origin !== null ? tiesOf(registration, asked.origin, offer) : []
  const outcome = outcomeOf({ asked, payTo, facts, isTied: asked.origin === null || ties.length > 0 })
  return {
    outcome,
    human: facts.human as PayeeAnswer['human'],
    pay_to: payTo,
    network: asked.network ?? offer?.network ?? null,
    evidence: [...(offer ? [offerEvidence(offer)] : []), ...ties, ...(registration ? logsOf(registration) : [])],
    as_of: {
      chain: registration?.chain ?? null,
      block_number: registration?.block_number ?? null,
      block_timestamp: registration?.block_timestamp ?? null,
    },
    not_checked: ['mismatch', 'owner-only'].includes(outcome) ? ['payee-delegation'] : [],
  }
}

interface Weighed {
  readonly asked: Asked
  readonly payTo: string | null
  readonly facts: PayeeFacts
  readonly isTied: boolean
}

/** The order in which the draft's conditions are looked at: what could not be read comes before what was found. */
function outcomeOf({ asked, payTo, facts: { offer, registration }, isTied }: Weighed): PayeeAnswer['outcome'] {
  if (!registration) return asked.origin !== null && !offer ? 'not-read' : 'no-identity'
  const { owner, wallet, block_number } = registration
  if (payTo === null || block_number === null || !owner) return 'not-read'
  if (!isTied) return 'endpoint-unlisted'
  if (!/^0x[0-9a-f]{40}$/.test(payTo)) return 'not-read' // an account of another kind of chain: no registry names one
  if (wallet?.address === payTo) return 'verified-wallet'
  if (owner.address === payTo) return 'owner-only'
  return wallet?.address ? 'mismatch' : 'no-agent-wallet'
}

/**
 * What ties the origin of an endpoint to an agent: its registration file lies there, or documents there of a host that lists
 * the agent as its own. That the file names an endpoint does not: anybody can name anybody's.
 */
function tiesOf(registration: Registered, origin: string, offer: PayeeFacts['offer']): Evidence[] {
  const document = [...registration.verified_documents, ...(offer?.domain_verified ? [offer.url] : [])].find(
    (url) => originOf(url) === origin,
  )
  return [
    ...(originOf(registration.uri ?? '') === origin
      ? [{ kind: 'registration_file' as const, ...nothing, url: registration.uri }]
      : []),
    ...(document === undefined ? [] : [{ kind: 'host' as const, ...nothing, url: document }]),
  ]
}

function offerEvidence({ url, sha256 }: NonNullable<PayeeFacts['offer']>): Evidence {
  return { kind: 'offer', ...nothing, url, sha256 }
}

function logsOf({ chain, owner, wallet }: Registered): Evidence[] {
  const logs = [
    { kind: 'owner', log: owner },
    { kind: 'agent_wallet', log: wallet },
  ] as const
  return logs.flatMap(({ kind, log }) =>
    log ? [{ kind, ...nothing, chain, block_number: log.block_number, tx_hash: log.tx_hash }] : [],
  )
}

/** Scheme, host and port in lowercase; undefined: not an address with a host. */
export function originOf(url: string): string | undefined {
  try {
    const { origin } = new URL(url)
    return origin === 'null' ? undefined : origin
  } catch {
    return undefined
  }
}
