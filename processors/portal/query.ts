/** A query of the archive protocol, as the SDK and the trace lookup write it. */
export interface ArchiveQuery {
  readonly fromBlock: number
  readonly toBlock?: number
  readonly includeAllBlocks?: boolean
  readonly fields?: { readonly [K in FieldKind]?: Readonly<Record<string, boolean | undefined>> }
  readonly logs?: readonly object[]
  readonly transactions?: readonly object[]
  readonly traces?: readonly object[]
}

type FieldKind = 'block' | 'transaction' | 'log' | 'trace'

/** Fields that the archives always send; the Portal sends only what it is asked for. */
const implied = {
  block: { number: true, hash: true, parentHash: true },
  transaction: { transactionIndex: true },
  log: { logIndex: true, transactionIndex: true },
  trace: { transactionIndex: true, traceAddress: true, type: true },
} as const

/** A query in the Portal's form, from `fromBlock` on. `parentHash`: hash of the block before it. */
export function toPortalQuery(query: ArchiveQuery, fromBlock: number, parentHash?: string): string {
  const { toBlock, includeAllBlocks, logs, transactions, traces, fields = {} } = query
  const asked: FieldKind[] = ['block']
  if (logs?.length || transactions?.length) asked.push('transaction', 'log')
  if (traces?.length) asked.push('trace')
  return JSON.stringify({
    type: 'evm',
    fromBlock,
    toBlock,
    parentBlockHash: parentHash,
    includeAllBlocks: includeAllBlocks || undefined,
    fields: Object.fromEntries(asked.map((kind) => [kind, { ...implied[kind], ...fields[kind] }])),
    logs,
    transactions,
    traces,
  })
}
