import { createHash } from 'node:crypto'
import { decodeFunctionData, encodeAbiParameters, encodeEventTopics, type Hex, parseAbi } from 'viem'
import { chains } from '../../../config/chains.ts'
import { fixture } from '../fixture.ts'
import type { BlockPart, RecordedLog, RecordedTransaction } from './file.ts'

/** The fields of an entry of the file that are read here. */
interface SettlementRecording {
  readonly source: string
  readonly transaction: {
    readonly hash: Hex
    /** Null: not published. */
    readonly from: Hex | null
    readonly to: Hex
    readonly input: Hex
    readonly blockNumber: number
    readonly blockHash?: Hex
    readonly transactionIndex?: number
  }
  /** Null: not published; one entry has the Transfer log alone. */
  readonly receipt: {
    readonly blockHash?: Hex
    readonly logs: readonly {
      readonly address: Hex
      readonly topics: readonly Hex[]
      readonly data: Hex
      readonly logIndex: number
      readonly transactionIndex: number
    }[]
  } | null
}

export function settlementRecordings(): SettlementRecording[] {
  return fixture('chain/base-usdc-eip3009-transactions.json').transactions
}

const token = chains.base.tokens[0]?.address as Hex

const abi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

/**
 * The recorded token transactions of Base, a part for each. Where a log was not published it is derived: the token's
 * code emits AuthorizationUsed and right after it Transfer, with the values of the calldata.
 */
export function recordedSettlements(): BlockPart[] {
  const placed = new Map<number, number>()
  return settlementRecordings().map((recording) => {
    const { transaction, receipt } = recording
    const number = transaction.blockNumber
    // Without a published position: behind the other recordings of the block.
    const place = placed.get(number) ?? 0
    placed.set(number, place + 1)
    const transactionIndex = receipt?.logs[0]?.transactionIndex ?? place
    return {
      number,
      hash: transaction.blockHash ?? receipt?.blockHash,
      transactions: [toTransaction(recording, transactionIndex)],
      logs: toLogs(recording, transactionIndex, place),
    }
  })
}

/** Sender of a transaction; where it was not published, a made-up address, the same for the same transaction. */
export function senderOf({ transaction }: SettlementRecording): string {
  return transaction.from ?? `0x${createHash('sha256').update(transaction.hash).digest('hex').slice(0, 40)}`
}

function toTransaction(recording: SettlementRecording, transactionIndex: number): RecordedTransaction {
  const { hash, to, input } = recording.transaction
  return {
    transactionIndex,
    hash,
    from: senderOf(recording),
    to,
    input,
    sighash: input.slice(0, 10),
    status: 1,
    origin: 'recorded',
  }
}

function toLogs(recording: SettlementRecording, transactionIndex: number, place: number): RecordedLog[] {
  const { source, transaction, receipt } = recording
  const { args } = decodeFunctionData({ abi, data: transaction.input })
  const [from, to, value, , , nonce] = args
  const position = { transactionIndex, transactionHash: transaction.hash, address: token }
  const recorded = (receipt?.logs ?? []).map((log): RecordedLog => ({ ...position, ...log, origin: 'recorded' }))
  if (recorded.length === 2) return recorded
  // The two logs are neighbours, so one position gives the other; some sources state positions only in their text.
  const said = /AuthorizationUsed at (\d+)/.exec(source)?.[1]
  const logIndex = recorded[0] ? recorded[0].logIndex - 1 : said ? Number(said) : 2 * place
  const used: RecordedLog = {
    ...position,
    logIndex,
    topics: encodeEventTopics({ abi, eventName: 'AuthorizationUsed', args: { authorizer: from, nonce } }) as Hex[],
    data: '0x',
    origin: 'derived',
  }
  const transfer: RecordedLog = {
    ...position,
    logIndex: logIndex + 1,
    topics: encodeEventTopics({ abi, eventName: 'Transfer', args: { from, to } }) as Hex[],
    data: encodeAbiParameters([{ type: 'uint256' }], [value]),
    origin: 'derived',
  }
  return [used, recorded[0] ?? transfer]
}
