import type { PayeeFacts } from '../../db/queries/documents/payee.ts'
import type { PayeeAnswer } from '../schemas/documents/payee.ts'

interface Asked {
  readonly payTo: string | null
  readonly network: string | null
}

type Outcome = PayeeAnswer['outcome']

/** What ties an address to an agent besides its registry: a row for each. */
interface Binding {
  readonly name: PayeeAnswer['not_checked'][number]
  /** Outcomes that it can change; no other is held against it. */
  readonly changes: readonly Outcome[]
  /** The outcome with it; undefined: it says nothing. Null: its form is not published, so that nobody reads it here. */
  readonly outcomeOf: ((facts: PayeeFacts) => Outcome | undefined) | null
}

// Source: draft ERC-8478, of which only the head is public.
const bindings: readonly Binding[] = [
  { name: 'payee-delegation', changes: ['mismatch', 'owner-only'], outcomeOf: null },
]

type Evidence = PayeeAnswer['evidence'][number]
type Registered = NonNullable<PayeeFacts['registration']>
const nothing = { chain: null, block_number: null, tx_hash: null, url: null, sha256: null }

/** Whether the address that a seller wants to be paid at is its agent's, with what that rests on: all but the agent. */
export function payeeFound(asked: Asked, facts: PayeeFacts): Omit<PayeeAnswer, 'agent'> {
  const { offer, registration } = facts
  const payTo = asked.payTo ?? offer?.pay_to ?? null
  const ofRegistry = facts.outcome as Outcome
  const others = bindings.filter(({ changes }) => changes.includes(ofRegistry))
  const outcome = others.map((one) => one.outcomeOf?.(facts)).find((one) => one !== undefined) ?? ofRegistry
  return {
    outcome,
    human: facts.human as PayeeAnswer['human'],
    pay_to: payTo,
    network: asked.network ?? offer?.network ?? null,
    evidence: [
      ...(offer ? [offerEvidence(offer)] : []),
      ...tiesOf(facts.ties),
      ...(registration ? logsOf(registration) : []),
    ],
    as_of: {
      chain: registration?.chain ?? null,
      block_number: registration?.block_number ?? null,
      block_timestamp: registration?.block_timestamp ?? null,
    },
    not_checked: others.filter((one) => one.outcomeOf === null).map(({ name }) => name),
  }
}

function tiesOf({ registration_file, host }: PayeeFacts['ties']): Evidence[] {
  return Object.entries({ registration_file, host }).flatMap(([kind, url]) =>
    url === null ? [] : [{ kind: kind as keyof PayeeFacts['ties'], ...nothing, url }],
  )
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
