/** A settlement as its row has it, but for the chain's name. */
export interface StoredSettlement {
  readonly blockNumber: number
  readonly logIndex: number
  readonly blockTimestamp: Date
  /** Base units. */
  readonly amount: bigint
  readonly token: Buffer
  readonly payer: Buffer
  readonly recipient: Buffer
  readonly facilitator: Buffer
  readonly paymentNonce: Buffer
  readonly txHash: Buffer
  readonly selector: Buffer
  readonly selectorSource: string
}

// A statement that takes many settlements takes an array of each column.

const columns = [
  { name: 'block_number', type: 'int', field: 'blockNumber' },
  { name: 'log_index', type: 'int', field: 'logIndex' },
  { name: 'block_timestamp', type: 'timestamptz', field: 'blockTimestamp' },
  { name: 'amount', type: 'bigint', field: 'amount' },
  { name: 'token', type: 'bytea', field: 'token' },
  { name: 'payer', type: 'bytea', field: 'payer' },
  { name: 'recipient', type: 'bytea', field: 'recipient' },
  { name: 'facilitator', type: 'bytea', field: 'facilitator' },
  { name: 'payment_nonce', type: 'bytea', field: 'paymentNonce' },
  { name: 'tx_hash', type: 'bytea', field: 'txHash' },
  { name: 'selector', type: 'bytea', field: 'selector' },
  { name: 'selector_source', type: '"char"', field: 'selectorSource' },
] as const

/** Names of the columns, of an alias when one is given. */
export const arrayColumns = (alias?: string) =>
  columns.map(({ name }) => (alias ? `${alias}.${name}` : name)).join(', ')

/** The rows of the arrays, the first of which is the parameter of that number. */
export const unnestSettlements = (parameter: number) =>
  `unnest(${columns.map(({ type }, index) => `$${parameter + index}::${type}[]`).join(', ')})`

/** The parameters of `unnestSettlements`. */
export const settlementArrays = (rows: readonly StoredSettlement[]) =>
  columns.map(({ field }) => rows.map((row) => row[field]))
