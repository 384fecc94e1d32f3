import type { Address, LocalAccount, TransactionReceipt } from 'viem'
import { accountOf, type Call, type DevChain, startDevChain } from '../../devnet/chain/chain.ts'
import { newIdentity } from '../../devnet/chain/identity.ts'
import { type ChainIndex, indexChain } from '../support/chain/index-chain.ts'

/** A chain without dollars, its people, and a processor that sees each of its blocks hot. */
export interface IdentityStage {
  readonly chain: DevChain
  readonly index: ChainIndex
  readonly owner: LocalAccount
  readonly buyer: LocalAccount
  readonly operator: LocalAccount
  readonly client: LocalAccount
  /** Calls as `owner`; resolves with the first new identity once its rows are there. */
  registered(call: Call, gas?: bigint): Promise<{ agentId: bigint; receipt: TransactionReceipt }>
  /** The receipt, once its rows are there. */
  indexed(mined: Promise<TransactionReceipt>): Promise<TransactionReceipt>
  /** The block of a receipt as rows name it. */
  placeOf(receipt: TransactionReceipt): Promise<{ block: number; time: Date }>
  /** Rows with bytes as hex, of a statement about some identities. */
  query(sql: string, agentIds?: bigint[]): Promise<Row[]>
  close(): Promise<void>
}

type Row = Record<string, string | number | boolean | Date | null>

/** Blocks; more than the tests mine. */
export const finality = 200

export async function setIdentityStage(): Promise<IdentityStage> {
  const people = {
    owner: accountOf('owner of the identities'),
    buyer: accountOf('buyer of the identities'),
    operator: accountOf('operator of the identities'),
    client: accountOf('client of the identities'),
  }
  const funded = Object.values(people).map(({ address }) => address)
  const chain = await startDevChain('gnosis', { funded })
  const index = await indexChain(chain, { finality })
  const indexed = async (mined: Promise<TransactionReceipt>) => {
    const receipt = await mined
    await index.untilHead()
    return receipt
  }
  return {
    chain,
    index,
    ...people,
    indexed,
    async registered(call, gas) {
      const receipt = await indexed(chain.execute(people.owner, call, { gas }))
      return { agentId: await newIdentity(chain, receipt.transactionHash), receipt }
    },
    async placeOf({ blockNumber }) {
      const { timestamp } = await chain.client.getBlock({ blockNumber })
      return { block: Number(blockNumber), time: new Date(Number(timestamp) * 1000) }
    },
    async query(sql, agentIds = []) {
      const { rows } = await index.database.pool.query<Row>(sql, agentIds)
      return rows.map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, hexOf(value)])))
    },
    async close() {
      await index.close()
      await chain.stop()
    },
  }
}

/** What a row holds of an address. */
export function lower(address: Address): string {
  return address.toLowerCase()
}

function hexOf<T>(value: T): T | string {
  return Buffer.isBuffer(value) ? `0x${value.toString('hex')}` : value
}
