/** Kinds of contracts, other than tokens, whose logs prove payments. */
export const contractKinds = ['permit2_exact', 'permit2_upto', 'batch_settlement', 'auth_capture', 'jobs'] as const
export type ContractKind = (typeof contractKinds)[number]

/** What a kind of row that a payment contract's log gives means for the sums. */
interface PaymentKindRow {
  /** Kind of the contracts that log it. */
  readonly contract: ContractKind
  /** Whether it is income of the payee, less income if its amount is below zero; otherwise it says what is held for the payee, and is in no sum of income. */
  readonly isIncome: boolean
  /** What it adds to what its contracts hold for the payee, in terms of its gross amount. */
  readonly held: 1 | 0 | -1
  /** Whether the contract serves x402 alone, so that its log is evidence of that. */
  readonly isX402: boolean
  /** Whether its logs do not say who paid: that is told where its subject was funded, in an earlier transaction. */
  readonly isFundedBefore?: true
}

const paid = { isIncome: true, held: 0, isX402: true } as const

/**
 * The kinds of payments that contracts log, a row each, in the order in which they are told. How their logs are read is
 * in `processors/mapping/kinds`; where their contracts are, in the chain table.
 */
export const paymentKinds = {
  permit2_exact: { contract: 'permit2_exact', ...paid },
  permit2_upto: { contract: 'permit2_upto', ...paid },
  /** What a receiver claimed from a channel: nobody can take it back. */
  batch_claim: { contract: 'batch_settlement', ...paid, held: -1 },
  /** What was put into a channel, by whom the money came from, and what went back to the payer unclaimed. */
  batch_deposit: { contract: 'batch_settlement', isIncome: false, held: 1, isX402: true },
  batch_return: { contract: 'batch_settlement', isIncome: false, held: -1, isX402: true },
  /** What an operator took from a payer for a receiver at once, and what it captured, in parts perhaps, of what was held. */
  escrow_charge: { contract: 'auth_capture', isIncome: true, held: 0, isX402: false },
  escrow_capture: { contract: 'auth_capture', isIncome: true, held: -1, isX402: false, isFundedBefore: true },
  /**
   * What went back to the payer of what was charged or captured, below zero: less income, of the day on which it went, as far
   * as the payment of its subject brought any.
   */
  escrow_refund: { contract: 'auth_capture', isIncome: true, held: 0, isX402: false, isFundedBefore: true },
  /** What a payer has authorized, and what went back unused: voided, or reclaimed. */
  escrow_authorization: { contract: 'auth_capture', isIncome: false, held: 1, isX402: false },
  escrow_return: { contract: 'auth_capture', isIncome: false, held: -1, isX402: false, isFundedBefore: true },
  /**
   * What a client deposited for a job; what the job paid its provider or the provider's delegate; what returned to the client,
   * which was nobody's income. In between, the money is the contract's own.
   */
  job_funding: { contract: 'jobs', isIncome: false, held: 0, isX402: false },
  job_release: { contract: 'jobs', isIncome: true, held: 0, isX402: false, isFundedBefore: true },
  job_return: { contract: 'jobs', isIncome: false, held: 0, isX402: false },
} as const satisfies Record<string, PaymentKindRow>

export type PaymentKind = keyof typeof paymentKinds

/** Names of the kinds that a condition holds for. */
export function paymentKindsThat(holds: (row: PaymentKindRow) => boolean): PaymentKind[] {
  return (Object.keys(paymentKinds) as PaymentKind[]).filter((kind) => holds(paymentKinds[kind]))
}

/** Kinds of the rows that refunds share a subject with, and of refunds. */
export const refundedKinds = paymentKindsThat(({ contract }) => contract === paymentKinds.escrow_refund.contract)

/** Kinds of contracts that hold money for a payee before it is the payee's. */
export const holdingContracts = contractKinds.filter((contract) =>
  Object.values<PaymentKindRow>(paymentKinds).some((row) => row.contract === contract && row.held !== 0),
)

/** Whether the payer of a kind's rows is found in other rows, those that fund their subject. */
export function isFundedBefore(kind: PaymentKind): boolean {
  const row: PaymentKindRow = paymentKinds[kind]
  return row.isFundedBefore === true
}
