import type { ChainName } from '../../config/chains.ts'
import { writeRow } from '../store/settlement-copy.ts'

/** A row of a chain for binary COPY, all values zero, with the offset of each: every value has a fixed length. */
export interface RowTemplate {
  readonly bytes: Buffer
  readonly amount: number
  readonly timestamp: number
  readonly block: number
  readonly logIndex: number
  readonly selector: number
  readonly token: number
  readonly payer: number
  readonly recipient: number
  readonly facilitator: number
  readonly nonce: number
  readonly txHash: number
}

/** Bytes of the field count, and of each value's length in front of it. */
const countBytes = 2
const lengthBytes = 4

export function rowTemplate(chain: ChainName): RowTemplate {
  const address = `0x${'00'.repeat(20)}`
  const hash = `0x${'00'.repeat(32)}`
  const bytes = Buffer.alloc(maxRowBytes)
  const length = writeRow(bytes, 0, {
    chain,
    blockNumber: 0,
    logIndex: 0,
    blockTimestamp: 0,
    amount: 0n,
    token: address,
    payer: address,
    recipient: address,
    facilitator: address,
    paymentNonce: hash,
    txHash: hash,
    selector: '0x00000000',
    selectorSource: 'c',
  })
  let at = countBytes
  const value = (size: number) => {
    const start = at + lengthBytes
    at = start + size
    return start
  }
  const amount = value(8)
  const timestamp = value(8)
  const block = value(4)
  const logIndex = value(4)
  value(Buffer.byteLength(chain))
  value(1) // how the selector was found: in the calldata
  const selector = value(4)
  const token = value(20)
  const payer = value(20)
  const recipient = value(20)
  const facilitator = value(20)
  const nonce = value(32)
  const txHash = value(32)
  if (at !== length) throw new Error(`a settlement's row has ${length} bytes, the template ${at}`)
  return {
    bytes: bytes.subarray(0, length),
    amount,
    timestamp,
    block,
    logIndex,
    selector,
    token,
    payer,
    recipient,
    facilitator,
    nonce,
    txHash,
  }
}

/** Bytes of the buffer in which the template is built, more than any row has. */
const maxRowBytes = 1024
