import { SourceFailure } from '../../hosts/retries.ts'
import type { RpcCall, RpcClient } from '../rpc-client.ts'
import type { ArchiveBlock, Wanted } from './history.ts'
import { provingLogs, type RpcHeader, type RpcLog } from './rpc-logs.ts'

/** A block to read: one in which logs were found, or an end of a range. */
export interface WantedBlock {
  readonly hash: string
  /** Undefined: not read yet. */
  readonly header: RpcHeader | undefined
  /** Indexes of the logs that were found, by transaction hash. */
  readonly logs: Map<string, number[]>
}

export interface RpcReceipt {
  readonly transactionHash: string
  readonly transactionIndex: string
  readonly blockHash: string
  readonly logs: readonly RpcLog[]
}

export interface RpcTransaction {
  readonly hash: string
  readonly blockHash: string
  readonly transactionIndex: string
  readonly from: string
  readonly to: string | null
  readonly input: string
}

/**
 * Reads blocks with the transactions in which a token executed an authorization or a contract paid, and all logs of
 * these. A block without such a transaction is left out, unless its header is known already.
 *
 * Rejects with a SourceFailure when the node's answers contradict each other: nodes behind one address can be at
 * different blocks. Without recipients a receipt must have exactly the proving logs that were found. Logs that begin with
 * number zero must be the first of their block: some nodes begin again at zero with each transaction.
 */
export async function readWanted(
  client: RpcClient,
  wanted: readonly WantedBlock[],
  of: Wanted,
): Promise<ArchiveBlock[]> {
  const { addresses, topic0 } = provingLogs(of)
  const isComplete = of.recipients === undefined
  const isProof = ({ address, topics }: RpcLog) =>
    topic0.includes(topics[0] ?? '') && addresses.includes(address.toLowerCase())
  const asked = wanted.flatMap(({ logs }) => [...logs.keys()])
  const receipts = (await ask(client, { eth_getTransactionReceipt: asked })) as Map<string, RpcReceipt>
  refuseOtherReceipts(client, wanted, receipts, isComplete ? isProof : undefined)
  const settling = wanted
    .map((block) => ({ ...block, hashes: [...block.logs.keys()].filter((tx) => receipts.get(tx)?.logs.some(isProof)) }))
    .filter(({ header, hashes }) => header || hashes.length > 0)
  // In one batch, which saves a round trip.
  const found = await ask(client, {
    eth_getBlockByHash: settling.filter(({ header }) => !header).map(({ hash }) => hash),
    eth_getTransactionByHash: settling.flatMap(({ hashes }) => hashes),
  })
  const leading = settling.flatMap(({ hash, header = found.get(hash) as RpcHeader, hashes }) =>
    hashes
      .map((one) => receipts.get(one) as RpcReceipt)
      .filter((receipt) => firstNumber(receipt) === 0)
      .flatMap(({ transactionIndex }) => header.transactions.slice(0, Number(transactionIndex))),
  )
  const before = (await ask(client, { eth_getTransactionReceipt: leading })) as Map<string, RpcReceipt>
  const numbered = leading.find((transaction) => before.get(transaction)?.logs.length !== 0)
  if (numbered) throw misfit(client, `logs are numbered from zero behind those of ${numbered}`)
  return settling.map(({ hash, header = found.get(hash) as RpcHeader, hashes }) => {
    if (header.hash !== hash) throw misfit(client, `it answers block ${header.hash} for ${hash}`)
    for (const one of hashes) {
      const transaction = found.get(one) as RpcTransaction
      const index = Number(transaction.transactionIndex)
      const isThere = header.transactions[index] === one && Number(receipts.get(one)?.transactionIndex) === index
      if (isThere && transaction.hash === one && transaction.blockHash === hash) continue
      throw misfit(client, `transaction ${one} is of another block`)
    }
    return toBlock(
      header,
      hashes.map((one) => found.get(one) as RpcTransaction),
      hashes.flatMap((one) => receipts.get(one)?.logs ?? []),
    )
  })
}

/**
 * Throws unless the receipts are of the wanted blocks, have the logs that were found in them and number them in order.
 * `isProof`: which logs of a receipt must all have been found; absent: others may be there.
 */
function refuseOtherReceipts(
  client: RpcClient,
  wanted: readonly WantedBlock[],
  receipts: ReadonlyMap<string, RpcReceipt>,
  isProof: ((log: RpcLog) => boolean) | undefined,
): void {
  for (const { hash, logs } of wanted) {
    for (const [transaction, found] of logs) {
      const receipt = receipts.get(transaction)
      if (receipt?.blockHash !== hash) throw misfit(client, `the receipt of ${transaction} is of another block`)
      if (!isNumbered(receipt)) throw misfit(client, `the logs of ${transaction} are not numbered as they stand`)
      const there = new Set(receipt.logs.map(({ logIndex }) => Number(logIndex)))
      if (receipt.logs.some(({ removed }) => removed)) throw misfit(client, `logs of ${transaction} were removed`)
      const isWhole = new Set(found).size === found.length && found.every((index) => there.has(index))
      if (!isWhole || (isProof && receipt.logs.filter(isProof).length !== found.length)) {
        throw misfit(client, `the receipt of ${transaction} has other logs than eth_getLogs`)
      }
    }
  }
  for (const { logs } of wanted) {
    const ofBlock = [...logs.keys()].map((transaction) => receipts.get(transaction) as RpcReceipt)
    const wrong = ofBlock
      .toSorted((a, b) => Number(a.transactionIndex) - Number(b.transactionIndex))
      .find((receipt, at, all) => firstNumber(receipt) <= lastNumber(all[at - 1]))
    if (wrong)
      throw misfit(client, `the logs of ${wrong.transactionHash} are numbered like those of another transaction`)
  }
}

/** Whether the logs of a receipt are its own, and are numbered one after the other. */
function isNumbered({ transactionHash, transactionIndex, logs }: RpcReceipt): boolean {
  const first = Number(logs[0]?.logIndex ?? 0)
  return logs.every(
    (log, place) =>
      Number(log.logIndex) === first + place &&
      log.transactionHash === transactionHash &&
      Number(log.transactionIndex) === Number(transactionIndex),
  )
}

function firstNumber({ logs }: RpcReceipt): number {
  return Number(logs[0]?.logIndex ?? Number.POSITIVE_INFINITY)
}

function lastNumber(receipt: RpcReceipt | undefined): number {
  return Number(receipt?.logs.at(-1)?.logIndex ?? -1)
}

/** A block as an archive would send it, with some of its transactions and their logs. */
export function toBlock(
  { number, hash, parentHash, timestamp }: RpcHeader,
  transactions: readonly RpcTransaction[],
  logs: readonly RpcLog[],
): ArchiveBlock {
  return {
    header: { number: Number(number), hash, parentHash, timestamp: Number(timestamp) },
    transactions: transactions
      .map(({ transactionIndex, hash, from, to, input }) => ({
        transactionIndex: Number(transactionIndex),
        hash,
        from: from.toLowerCase(),
        to: to?.toLowerCase() ?? null,
        input: input.toLowerCase(),
      }))
      .sort((a, b) => a.transactionIndex - b.transactionIndex),
    logs: logs
      .map(({ logIndex, transactionIndex, address, topics, data }) => ({
        logIndex: Number(logIndex),
        transactionIndex: Number(transactionIndex),
        address: address.toLowerCase(),
        topics: topics.map((topic) => topic.toLowerCase()),
        data: data.toLowerCase(),
      }))
      .sort((a, b) => a.logIndex - b.logIndex),
  }
}

/** Calls methods with hashes, in one batch. Returns the results by hash; rejects when one of them is missing. */
async function ask(
  client: RpcClient,
  hashes: Partial<Record<Method, readonly string[]>>,
): Promise<Map<string, unknown>> {
  const calls = Object.entries(hashes).flatMap(([method, list]) =>
    list.map((hash): RpcCall & { hash: string } => ({
      method,
      hash,
      params: [hash, ...paramsAfter[method as Method]],
    })),
  )
  const results = await client.batchCall(calls.map(({ method, params }) => ({ method, params })))
  const missing = calls.find((_, at) => !results[at])
  if (missing) throw misfit(client, `it has no ${missing.method} of ${missing.hash}`)
  return new Map(calls.map(({ hash }, at) => [hash, results[at]]))
}

/** Parameters after the hash, by method; `false`: a block's transactions as hashes only. */
const paramsAfter = {
  eth_getBlockByHash: [false],
  eth_getTransactionByHash: [],
  eth_getTransactionReceipt: [],
} as const
type Method = keyof typeof paramsAfter

function misfit({ name }: RpcClient, what: string): SourceFailure {
  return new SourceFailure(`${name}: ${what}`)
}
