import { setTimeout as delay } from 'node:timers/promises'
import {
  type Address,
  createTestClient,
  defineChain,
  type Hash,
  type Hex,
  http,
  keccak256,
  type LocalAccount,
  publicActions,
  type SignedAuthorization,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  toBytes,
  walletActions,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type ChainName, chainOf } from '../../config/chains.ts'
import { freePort } from '../../ops/ports.ts'
import { startAnvil } from './anvil.ts'
import { addressesOf, blockGasLimit, type ChainAddresses, genesisOf } from './genesis.ts'

/** A contract call, built by the files next to this one; `send` executes it, `aggregate` batches several into one. */
export interface Call {
  readonly to: Address
  readonly data: Hex
}

export interface SendOptions {
  /** Gas limit; a fixed default, so that nothing has to be estimated and a call that reverts is mined too. */
  readonly gas?: bigint
  /** EIP-7702: code to delegate to before the call runs. */
  readonly authorizationList?: SignedAuthorization[]
  /** Nonce of the transaction; absent: the node is asked for the account's next one. */
  readonly nonce?: number
}

export interface DevChainOptions {
  /** Preferred port; another one when it is taken. */
  readonly port?: number
  /** Unix seconds of the first block. Default: now. */
  readonly genesisTime?: number
  /** Number of the first block. Default: 0. */
  readonly firstBlock?: number
  /** Seconds between blocks. Absent: a block as soon as a transaction comes. */
  readonly blockSeconds?: number
  /** Accounts that can pay gas, besides `funder`. */
  readonly funded?: readonly Address[]
}

/** A local EVM chain with the real chain id and our contracts at the real addresses. */
export interface DevChain {
  readonly name: ChainName
  readonly chainId: number
  readonly rpc: string
  /** Process id of the node. */
  readonly pid: number
  readonly addresses: ChainAddresses
  /** viem: public, wallet and anvil's own actions. */
  readonly client: DevClient
  /**
   * Signs and submits; resolves with the hash as soon as the node took it. Calls of one account keep their order,
   * also when several are under way.
   */
  send(from: LocalAccount, call: Call, options?: SendOptions): Promise<Hash>
  /** The receipt, whether the transaction succeeded or not. */
  mined(hash: Hash): Promise<TransactionReceipt>
  /** `send`, then `mined`; throws when the call reverted. */
  execute(from: LocalAccount, call: Call, options?: SendOptions): Promise<TransactionReceipt>
  /** Gives accounts native coins to pay gas with. */
  fund(addresses: readonly Address[]): Promise<void>
  stop(): Promise<void>
}

export type DevClient = ReturnType<typeof createDevClient>

const defaultGas = 1_000_000n
/** Wei a gas; the base fee of an idle local chain is below one gwei. */
const maxFeePerGas = 100_000_000_000n
const maxPriorityFeePerGas = 1_000_000_000n
const balanceWei = 10n ** 24n
/** Milliseconds between polls for a receipt. */
const pollingInterval = 50
const receiptSeconds = 60
/** RPC timeout in milliseconds, longer than a busy machine takes: a retry after it would send a transaction twice. */
const answerMs = 60_000

/** The account of a name: the same key for the same text, everywhere and always. */
export function accountOf(text: string) {
  return privateKeyToAccount(keccak256(toBytes(text)))
}

/** Pays gas on every local chain from block 0 on. */
export const funder = accountOf('funder of the local chains')

/** Starts a local chain and waits until it answers; every contract stands from block 0 on. */
export async function startDevChain(name: ChainName, options: DevChainOptions = {}): Promise<DevChain> {
  const { genesisTime = Math.floor(Date.now() / 1000), firstBlock, blockSeconds, funded = [] } = options
  const genesis = await genesisOf(name, { timestamp: genesisTime, funded: [funder.address, ...funded] })
  const port = await freePort('127.0.0.1', options.port)
  const node = await startAnvil({ port, genesis, gasLimit: blockGasLimit, blockSeconds, firstBlock })
  const client = createDevClient(name, node.rpc)
  const { send, mined } = senderOf(client)
  return {
    name,
    chainId: chainOf(name).id,
    rpc: node.rpc,
    pid: node.pid,
    addresses: addressesOf(name),
    client,
    send,
    mined,
    async execute(from, call, sendOptions) {
      const receipt = await mined(await send(from, call, sendOptions))
      if (receipt.status === 'reverted') throw new Error(`${name}: transaction ${receipt.transactionHash} reverted`)
      return receipt
    },
    async fund(addresses) {
      await Promise.all(addresses.map((address) => client.setBalance({ address, value: balanceWei })))
    },
    stop: node.stop,
  }
}

function createDevClient(name: ChainName, rpc: string) {
  const chain = defineChain({
    id: chainOf(name).id,
    name,
    nativeCurrency: { name: 'coin', symbol: 'COIN', decimals: 18 },
    rpcUrls: { default: { http: [rpc] } },
  })
  return createTestClient({
    chain,
    mode: 'anvil',
    transport: http(rpc, { timeout: answerMs }),
    pollingInterval,
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions)
}

function noneYet(error: unknown): undefined {
  if (!(error instanceof TransactionReceiptNotFoundError)) throw error
}

function senderOf(client: DevClient) {
  const turns = new Map<Address, Promise<unknown>>()

  async function submit(from: LocalAccount, call: Call, options: SendOptions) {
    const { gas = defaultGas, authorizationList } = options
    const nonce = options.nonce ?? (await client.getTransactionCount({ address: from.address, blockTag: 'pending' }))
    const fees = { gas, maxFeePerGas, maxPriorityFeePerGas }
    const common = { ...call, ...fees, nonce, chainId: client.chain.id }
    const serializedTransaction = authorizationList
      ? await from.signTransaction({ ...common, type: 'eip7702', authorizationList })
      : await from.signTransaction({ ...common, type: 'eip1559' })
    return client.sendRawTransaction({ serializedTransaction })
  }

  return {
    send(from: LocalAccount, call: Call, options: SendOptions = {}): Promise<Hash> {
      const before = turns.get(from.address) ?? Promise.resolve()
      const sent = before.then(() => submit(from, call, options))
      turns.set(
        from.address,
        sent.catch(() => {}), // the caller gets the error; the next call still has its turn
      )
      return sent
    },
    /** Polls by itself: viem's own wait asks when a block comes, and misses one that comes while it still asks. */
    async mined(hash: Hash) {
      for (const deadline = Date.now() + receiptSeconds * 1000; ; await delay(pollingInterval)) {
        const receipt = await client.getTransactionReceipt({ hash }).catch(noneYet)
        if (receipt) return receipt
        if (Date.now() > deadline) throw new Error(`transaction ${hash} is in no block after ${receiptSeconds} s`)
      }
    },
  }
}
