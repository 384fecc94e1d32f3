/**
 * The part of a block that the mapping reads. The SDK's blocks have this shape, and so have the tests'.
 * Addresses, hashes and topics are lowercase hex.
 */
export interface ChainBlock {
  readonly header: BlockHeader
  /** Ascending by log index. */
  readonly logs: readonly ChainLog[]
  readonly transactions: readonly ChainTransaction[]
}

interface BlockHeader {
  readonly height: number
  readonly hash: string
  /** Milliseconds since 1970. */
  readonly timestamp: number
}

export interface ChainLog {
  readonly logIndex: number
  readonly transactionIndex: number
  readonly address: string
  readonly topics: string[]
  readonly data: string
}

export interface ChainTransaction {
  readonly transactionIndex: number
  readonly hash: string
  readonly from: string
  /** Absent: the transaction creates a contract. */
  readonly to?: string | null
  readonly input: string
}

/** A transaction in which a token executed an authorization or a payment contract logged a payment, with all logs. */
export interface SettlingTransaction {
  readonly block: ChainBlock['header']
  readonly transaction: ChainTransaction
  readonly logs: readonly ChainLog[]
}

/** The transactions of a block by their index; throws when one is asked for that the source did not send. */
export function transactionsOf(block: ChainBlock): (index: number) => ChainTransaction {
  const byIndex = new Map(block.transactions.map((transaction) => [transaction.transactionIndex, transaction]))
  return (index) => {
    const transaction = byIndex.get(index)
    if (!transaction) throw new Error(`the source sent block ${block.header.height} without its transaction ${index}`)
    return transaction
  }
}

/** The address in the last twenty bytes of a topic or of a word of calldata, lowercase. */
export function addressOf(word: string): string {
  return `0x${word.slice(-40)}`
}

/** An address as a topic: padded to 32 bytes. */
export function topicOf(address: string): string {
  return `0x${address.slice(2).padStart(64, '0')}`
}

/** Bytes of a lowercase hex text. */
export function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}
