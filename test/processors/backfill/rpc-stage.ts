import { keccak256, toBytes } from 'viem'
import { type ChainSettings, readChains } from '../../../config/chains.file.ts'
import { accountOf, type DevChain, startDevChain } from '../../../devnet/chain/chain.ts'
import { aggregate, mint, pay, signAuthorization } from '../../../devnet/chain/payments.ts'
import { certifySource } from '../../../processors/backfill/verify.ts'
import { wantedOf } from '../../../processors/history/history.ts'
import { rpcSource } from '../../../processors/history/source-address.ts'
import { openHistory } from '../../../processors/history/sources.ts'
import { prepareTraffic, trafficAddresses, trafficBranch } from '../../chain/traffic.ts'
import { forkHere } from '../../support/chain/branches.ts'
import { cleanTables } from '../../support/chain/index-chain.ts'
import type { ChainTables } from '../../support/chain/oracle.ts'
import { chainSettings } from '../../support/chain/settings.ts'
import { type LimitedNode, startLimitedNode } from './limited-node.ts'

/** A local chain with a history, and a proxy before its node that can have a provider's limits. */
export interface RpcStage {
  readonly chain: DevChain
  readonly node: LimitedNode
  /** Settings by which Base is read through that proxy alone. */
  readonly settings: ChainSettings
  /** Rows that the chain's processor writes. */
  readonly expected: ChainTables
  readonly lastBlock: number
  /** Certificate of the history at the node: counts, sums, and the hashes of its first and last block. */
  certify(warn?: (text: string) => void): ReturnType<typeof certifySource>
  /** Lifts all limits of the node. */
  calm(): void
  end(): Promise<void>
}

export const finality = 2 // blocks
/** Empty blocks between the history and the last payments. */
const quietBlocks = 700
/** The account that makes two payments in one transaction, after the empty blocks. */
export const late = accountOf('payer after a long time')

export async function startRpcStage(): Promise<RpcStage> {
  const chain = await startDevChain('base', { funded: [...trafficAddresses, late.address] })
  await prepareTraffic(chain)
  const fork = await forkHere(chain)
  await fork.mine(await trafficBranch(chain, 'history', 12))
  await chain.client.mine({ blocks: quietBlocks })
  await chain.client.setAutomine(true)
  await chain.execute(late, mint(chain, late.address, 1_000n))
  const authorize = (name: string) =>
    signAuthorization(chain, late, { to: late.address, value: 7n, nonce: keccak256(toBytes(name)) })
  const one = await authorize('one of two')
  const other = await authorize('the other')
  await chain.execute(late, aggregate(chain, [pay(one), pay(other)]))
  const lastBlock = Number(await chain.client.getBlockNumber())
  await chain.client.mine({ blocks: finality })
  const expected = await cleanTables(chain, { finality })
  const node = await startLimitedNode(chain.rpc)
  const settings = readChains({ env: {}, file: chainSettings(chain, { finality, rpc: node.url }) }).base
  return {
    chain,
    node,
    settings,
    expected,
    lastBlock,
    certify(warn = () => {}) {
      const history = openHistory(rpcSource(settings, node.url), wantedOf(settings))
      return certifySource(history, settings, { firstBlock: 0, lastBlock }, warn)
    },
    calm() {
      node.limits = {}
      node.asked.splice(0)
    },
    async end() {
      await node.close()
      await chain.stop()
    },
  }
}
