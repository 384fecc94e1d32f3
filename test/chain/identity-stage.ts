import type { Address, LocalAccount, TransactionReceipt } from 'viem'
import { accountOf, type Call, type DevChain, startDevChain } from '../../devnet/chain/chain.ts'
import { newIdentity } from '../../devnet/chain/identity.ts'
import { type ChainIndex, indexChain } from '../support/chain/index-chain.ts'

/** A local chain without dollar contracts, funded accounts, and a processor that indexes each block while it is hot. */
export interface IdentityStage {
  readonly chain: DevChain
  readonly index: ChainIndex
  readonly owner: LocalAccount
  readonly buyer: LocalAccount
  readonly operator: LocalAccount
  readonly client: LocalAccount
  /** Sends a registering call as `owner`; resolves with the first new identity once its rows are stored. */
  registered(call: Call, gas?: bigint): Promise<{ agentId: bigint; receipt: TransactionReceipt }>
  /** Resolves with the receipt once the rows of its block are stored. */
  indexed(mined: Promise<TransactionReceipt>): Promise<TransactionReceipt>
  /** Number and timestamp of a receipt's block, in the form that rows have them. */
  placeOf(receipt: TransactionReceipt): Promise<{ block: number; time: Date }>
  /** Runs a statement with agent ids as its parameters; bytea columns come as 0x-hex. */
  query(sql: string, agentIds?: bigint[]): Promise<Row[]>
  close(): Promise<void>
}

type Row = Record<string, string | number | boolean | Date | null>

/** Blocks; more than the tests mine, so that none becomes final. */
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

/** An address in the lower case that rows have. */
export function lower(address: Address): string {
  return address.toLowerCase()
}

function hexOf<T>(value: T): T | string {
  return Buffer.isBuffer(value) ? `0x${value.toString('hex')}` : value
}
