import {
  type Address,
  BaseError,
  decodeAbiParameters,
  type Hex,
  HttpRequestError,
  pad,
  parseAbi,
  parseAbiParameters,
  RpcRequestError,
  zeroAddress,
} from 'viem'
import { NoAnswer } from '../hosts/no-answer.ts'
import type { ChainClient } from './chain-client.ts'

/** Position of a KeyRegistry log on its chain. */
interface LogPlace {
  readonly block_number: number
  readonly block_hash: Hex
  readonly tx_hash: Hex
  readonly log_index: number
}

/** The log that added an app key. */
interface AddedLog extends LogPlace {
  /** FID of the app that requested the key, as the registry has checked; null: the log's metadata names none. */
  readonly request_fid: number | null
}

/** Custody address of a FID, as read at one block. */
interface CustodyReading {
  /** Lowercase. */
  readonly address: Address
  readonly block: number
  readonly blockHash: Hex
}

/** A change of a FID's custody, a transfer or a recovery. */
interface CustodyMove {
  readonly block: number
  readonly at: Date
}

/** Chain of the registries: its name in the chain table, and its chain id. */
interface HomeChain {
  readonly name: string
  readonly id: number
}

/**
 * Farcaster's registries on Optimism, asked at the newest block. Every question throws NoAnswer when there is no
 * answer: an outage says nothing about a key.
 */
export interface Registries {
  /** Whether an RPC URL of the chain is configured; if not, every question throws. */
  readonly canAnswer: boolean
  readonly chain: HomeChain
  /** State of a 32-byte key as an app key of the FID; `removed` is permanent. */
  appKeyState(fid: number, key: Hex): Promise<AppKeyState>
  /** Whether the final block has a key as an app key that the FID added, removed since or not. */
  isFinallyAdded(fid: number, key: Hex): Promise<boolean>
  /** Whether the final block is later than a time and the FID has not added the key in it. */
  isFinallyUnknown(fid: number, key: Hex, since: Date): Promise<boolean>
  /** Whether a 32-byte key is an app key that the FID has added and not removed. */
  isActiveAppKey(fid: number, key: Hex): Promise<boolean>
  /**
   * Removal of a key by the FID, which is permanent; undefined: not removed. With `finalized` no reorg can undo it.
   * `place` is null when the node does not search logs so far back for the Remove log: the key is removed even so.
   */
  removalOf(fid: number, key: Hex, at: 'latest' | 'finalized'): Promise<{ readonly place: LogPlace | null } | undefined>
  /** Time of the block that removed a key; null: it is not removed, or the node does not search logs so far back. */
  removedAt(fid: number, key: Hex): Promise<Date | null>
  /** Whether an Add log above the block adds the key as an app key of the FID. */
  addedAppKeyAfter(fid: number, key: Hex, block: number): Promise<boolean>
  /** Latest log that added the FID's app key; null: there is none, or the node does not search logs so far back. */
  addedLog(fid: number, key: Hex): Promise<AddedLog | null>
  /** Custody address of the FID, read at the newest block, which the answer names; undefined: the FID has no owner. */
  custodyOf(fid: number): Promise<CustodyReading | undefined>
  /**
   * The last change of the FID's custody in a block above this one; null: in whatever block. Where the node does not
   * search so many blocks, another custody address than the block's stands for a change in the newest block.
   */
  custodyChangeAfter(fid: number, block: number | null): Promise<CustodyMove | undefined>
  /** Whether an address is the FID's custody address. */
  isCustody(fid: number, address: Address): Promise<boolean>
  /** Whether the FID has added an address for signing in, and not removed it; null: in whatever block, else above it. */
  isAuthAddress(fid: number, address: Address, block: number | null): Promise<boolean>
}

type AppKeyState = 'never' | 'active' | 'removed'

/** Source: farcasterxyz/contracts, KeyRegistry and IdRegistry. */
const abi = parseAbi([
  'struct KeyData { uint8 state; uint32 keyType; }',
  'function keyDataOf(uint256 fid, bytes key) view returns (KeyData)',
  'function custodyOf(uint256 fid) view returns (address custody)',
  'event Transfer(address indexed from, address indexed to, uint256 indexed id)',
  'event Remove(uint256 indexed fid, bytes indexed key, bytes keyBytes)',
  'event Add(uint256 indexed fid, uint32 indexed keyType, bytes indexed key, bytes keyBytes, uint8 metadataType, bytes metadata)',
])
/** States of a key; `removed` is permanent. */
const unknown = 0
const added = 1
const removed = 2
const keyTypes = { app: 1, auth: 2 } as const

/** Block whose state is asked for. */
type StateBlock = { readonly blockTag: 'latest' | 'finalized' } | { readonly blockNumber: bigint }

interface RegistryPlaces {
  readonly home: HomeChain
  readonly keyRegistry: string
  readonly idRegistry: string
  /** First block that can have logs of either registry. */
  readonly fromBlock: number
}

export function createRegistries(
  chain: ChainClient,
  { home, keyRegistry, idRegistry, fromBlock }: RegistryPlaces,
): Registries {
  const keys = new KeyRegistry(chain, keyRegistry, fromBlock)
  const ids = new IdRegistry(chain, idRegistry, fromBlock)
  return {
    canAnswer: chain.isSet,
    chain: home,
    appKeyState: (fid, key) => keys.appKeyState(fid, key),
    isFinallyAdded: async (fid, key) => (await keys.appKeyState(fid, key, { blockTag: 'finalized' })) !== 'never',
    async isFinallyUnknown(fid, key, since) {
      const { number, timestamp } = await keys.blockAt({ blockTag: 'finalized' })
      if (secondsToDate(timestamp) <= since) return false
      return (await keys.appKeyState(fid, key, { blockNumber: number as bigint })) === 'never'
    },
    addedAppKeyAfter: (fid, key, block) => keys.addedAfter(fid, key, keyTypes.app, block),
    async removalOf(fid, key, at) {
      if ((await keys.dataOf(fid, key, { blockTag: at })).state !== removed) return undefined
      return { place: await keys.removedLog(fid, key, at) }
    },
    async removedAt(fid, key) {
      const place = await keys.removedLog(fid, key, 'latest')
      return place && secondsToDate((await keys.blockAt({ blockHash: place.block_hash })).timestamp)
    },
    addedLog: (fid, key) => keys.addedLog(fid, key),
    custodyOf: (fid) => ids.custodyOf(fid),
    custodyChangeAfter: (fid, block) => ids.custodyChangeAfter(fid, block),
    isActiveAppKey: (fid, key) => keys.has(fid, key, keyTypes.app),
    // Registered as 20 bytes or as a word of 32: the contract takes any bytes for a key of this type.
    async isAuthAddress(fid, address, block) {
      for (const key of [address, pad(address)]) {
        if (!(await keys.has(fid, key, keyTypes.auth))) continue
        if (block === null || (await keys.addedAfter(fid, key, keyTypes.auth, block))) return true
      }
      return false
    },
    isCustody: async (fid, address) => (await ids.custodyAt(fid, { blockTag: 'latest' })) === address.toLowerCase(),
  }
}

/** One of the registries' contracts, read at a node that may be away. */
class Registry {
  readonly contract: { readonly address: Address; readonly abi: typeof abi }

  constructor(
    readonly name: string,
    readonly chain: ChainClient,
    address: string,
    readonly fromBlock: number,
  ) {
    this.contract = { address: address as Address, abi }
  }

  get client() {
    return this.chain.client()
  }

  /** The contracts' view functions never revert, so a failure comes from the node, its URL or the registry's address. */
  async answered<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      throw this.noAnswer(error)
    }
  }

  noAnswer(error: unknown): NoAnswer {
    return new NoAnswer('unavailable', `${this.name}: ${this.chain.failure(error).message}`)
  }

  blockAt(at: { blockTag: 'latest' | 'finalized' } | { blockHash: Hex }) {
    return this.answered(() => this.client.getBlock(at))
  }

  /** Block to search logs from: the registries' first, or 0 on a development chain that is shorter. */
  async wholeRange() {
    const head = await this.answered(() => this.client.getBlockNumber())
    return { fromBlock: head < this.fromBlock ? 0n : BigInt(this.fromBlock) }
  }

  /** Logs that a search found; none when the node refuses to search so many blocks. */
  async searched<Log>(search: () => Promise<Log[]>): Promise<Log[]> {
    try {
      return await search()
    } catch (error) {
      if (refusedByNode(error)) return []
      throw this.noAnswer(error)
    }
  }
}

class KeyRegistry extends Registry {
  constructor(chain: ChainClient, address: string, fromBlock: number) {
    super('KeyRegistry', chain, address, fromBlock)
  }

  dataOf(fid: number, key: Hex, at: StateBlock = { blockTag: 'latest' }) {
    const args = [BigInt(fid), key] as const
    return this.answered(() => this.client.readContract({ ...this.contract, functionName: 'keyDataOf', args, ...at }))
  }

  async has(fid: number, key: Hex, type: number) {
    const { state, keyType } = await this.dataOf(fid, key)
    return state === added && keyType === type
  }

  async appKeyState(fid: number, key: Hex, at?: StateBlock): Promise<AppKeyState> {
    const { state, keyType } = await this.dataOf(fid, key, at)
    if (state === unknown || keyType !== keyTypes.app) return 'never'
    return state === removed ? 'removed' : 'active'
  }

  /** Whether an Add log above the block adds a key that the FID has or had. */
  async addedAfter(fid: number, key: Hex, keyType: number, block: number) {
    const args = { fid: BigInt(fid), keyType, key }
    // The next block may not exist yet, and nodes refuse such a range.
    const range = { fromBlock: BigInt(block), toBlock: 'latest' } as const
    try {
      const logs = await this.client.getContractEvents({ ...this.contract, eventName: 'Add', args, ...range })
      return logs.some(({ blockNumber }) => blockNumber > BigInt(block))
    } catch (error) {
      if (!refusedByNode(error)) throw this.noAnswer(error)
      // A node that does not search so many blocks: no key is added twice, so one unknown then was added since.
      return (await this.dataOf(fid, key, { blockNumber: BigInt(block) })).state === unknown
    }
  }

  async addedLog(fid: number, key: Hex): Promise<AddedLog | null> {
    const args = { fid: BigInt(fid), keyType: keyTypes.app, key }
    const range = { ...(await this.wholeRange()), toBlock: 'latest' } as const
    const logs = await this.searched(() =>
      this.client.getContractEvents({ ...this.contract, eventName: 'Add', args, ...range }),
    )
    const log = logs.at(-1)
    const place = placeOf(log)
    return place && { ...place, request_fid: requestFidOf(log?.args.metadata) }
  }

  async removedLog(fid: number, key: Hex, toBlock: 'latest' | 'finalized') {
    const args = { fid: BigInt(fid), key }
    const range = { ...(await this.wholeRange()), toBlock }
    const logs = await this.searched(() =>
      this.client.getContractEvents({ ...this.contract, eventName: 'Remove', args, ...range }),
    )
    return placeOf(logs.at(-1))
  }
}

class IdRegistry extends Registry {
  constructor(chain: ChainClient, address: string, fromBlock: number) {
    super('IdRegistry', chain, address, fromBlock)
  }

  async custodyAt(fid: number, at: StateBlock) {
    const args = [BigInt(fid)] as const
    const custody = await this.answered(() =>
      this.client.readContract({ ...this.contract, functionName: 'custodyOf', args, ...at }),
    )
    return custody.toLowerCase() as Address
  }

  async custodyOf(fid: number): Promise<CustodyReading | undefined> {
    const { number, hash } = await this.blockAt({ blockTag: 'latest' })
    const address = await this.custodyAt(fid, { blockNumber: number as bigint })
    if (address === zeroAddress) return undefined
    return { address, block: Number(number), blockHash: hash as Hex }
  }

  async custodyChangeAfter(fid: number, block: number | null): Promise<CustodyMove | undefined> {
    const { number, timestamp } = await this.blockAt({ blockTag: 'latest' })
    const head = { number: number as bigint, timestamp }
    if (block !== null && head.number <= BigInt(block)) return undefined
    const { fromBlock } = block === null ? await this.wholeRange() : { fromBlock: BigInt(block) + 1n }
    const transfers = { ...this.contract, eventName: 'Transfer', args: { id: BigInt(fid) } } as const
    try {
      const logs = await this.client.getContractEvents({ ...transfers, fromBlock, toBlock: head.number })
      const log = logs.at(-1)
      if (!log) return undefined
      const { timestamp } = await this.blockAt({ blockHash: log.blockHash })
      return { block: Number(log.blockNumber), at: secondsToDate(timestamp) }
    } catch (error) {
      if (error instanceof NoAnswer) throw error
      if (!refusedByNode(error)) throw this.noAnswer(error)
      return block === null ? undefined : this.otherCustody(fid, block, head)
    }
  }

  /** A change of custody above the block, told by the custody address then and now. */
  private async otherCustody(fid: number, block: number, head: { number: bigint; timestamp: bigint }) {
    const before = await this.custodyAt(fid, { blockNumber: BigInt(block) })
    if (before === zeroAddress) throw new NoAnswer('unavailable', `IdRegistry: no custody changes since block ${block}`)
    if (before === (await this.custodyAt(fid, { blockNumber: head.number }))) return undefined
    return { block: Number(head.number), at: secondsToDate(head.timestamp) }
  }
}

const secondsToDate = (seconds: bigint) => new Date(Number(seconds) * 1_000)

function placeOf(
  log: { blockNumber: bigint; blockHash: Hex; transactionHash: Hex; logIndex: number } | undefined,
): LogPlace | null {
  if (!log) return null
  const { blockNumber, blockHash, transactionHash, logIndex } = log
  return { block_number: Number(blockNumber), block_hash: blockHash, tx_hash: transactionHash, log_index: logIndex }
}

/** Source: farcasterxyz/contracts, SignedKeyRequestValidator. */
const keyRequest = parseAbiParameters(
  '(uint256 requestFid, address requestSigner, bytes signature, uint256 deadline) request',
)

function requestFidOf(metadata: Hex | undefined): number | null {
  try {
    const [{ requestFid }] = decodeAbiParameters(keyRequest, metadata ?? '0x')
    return requestFid <= Number.MAX_SAFE_INTEGER ? Number(requestFid) : null
  } catch {
    return null // no metadata, or of another type
  }
}

/** Whether the node answered with a refusal: many limit how many blocks a log search may cover. */
function refusedByNode(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false
  const http = error.walk((cause) => cause instanceof HttpRequestError) as HttpRequestError | null
  const status = http?.status ?? 0
  return error.walk((cause) => cause instanceof RpcRequestError) !== null || (status >= 400 && status < 429)
}
