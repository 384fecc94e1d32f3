import type { Address, Hex } from 'viem'
import { readingLimits } from '../../config/limits.ts'
import { type ChainClient, callAt } from '../../social/chain-client.ts'

/** Characters of an answer: each address in it takes a hash to decode, and a stranger's contract can answer with 50,000. */
const longestAnswer = '0x'.length + 2 * readingLimits.contractAnswerBytes

/** A final block of a chain: what is read there is not undone. */
export interface FinalBlock {
  readonly number: number
  /** ISO 8601. */
  readonly time: string
}

/** Reads a chain at one final block. Each method throws when the node does not answer, or may not be asked now. */
export class FinalNode {
  private constructor(
    private readonly node: ChainClient,
    private readonly slot: () => Promise<void>,
    readonly block: FinalBlock,
  ) {}

  /** At the newest block that the node calls final. */
  static async of(node: ChainClient, slot: () => Promise<void>): Promise<FinalNode> {
    await slot()
    const { number, timestamp } = await node.client().getBlock({ blockTag: 'finalized' })
    const time = new Date(Number(timestamp) * 1_000).toISOString()
    return new FinalNode(node, slot, { number: Number(number), time })
  }

  /** Code of an address, lowercase; `0x`: it has none. */
  async code(address: Address): Promise<Hex> {
    await this.slot()
    const code = await this.node.client().getCode({ address, blockNumber: BigInt(this.block.number) })
    return (code ?? '0x').toLowerCase() as Hex
  }

  /** A word of the storage of a contract, lowercase. */
  async storage(address: Address, slot: Hex): Promise<Hex> {
    await this.slot()
    const word = await this.node.client().getStorageAt({ address, slot, blockNumber: BigInt(this.block.number) })
    return (word ?? '0x').toLowerCase() as Hex
  }

  /** What a contract answers; undefined: it refuses, or answers nothing, or more than is worth decoding. */
  async call(to: Address, data: Hex): Promise<Hex | undefined> {
    await this.slot()
    const answer = await callAt(this.node, BigInt(this.block.number), { to, data })
    return answer === undefined || answer === '0x' || answer.length > longestAnswer ? undefined : answer
  }
}
