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

/** A log of the KeyRegistry. */
interface LogPlace {
  readonly block_number: number
  readonly block_hash: Hex
  readonly tx_hash: Hex
  readonly log_index: number
}

/** The log that added an app key. */
export interface AddedLog extends LogPlace {
  /** FID of the app that asked for it, which the registry has checked; null: it does not say. */
  readonly request_fid: number | null
}

/** Whose a FID was at a block. */
interface CustodyReading {
  /** Lowercase. */
  readonly address: Address
  readonly block: number
  readonly blockHash: Hex
}

/** The registries' chain: its name here, and its id. */
interface HomeChain {
  readonly name: string
  readonly id: number
}

/**
 * Farcaster's registries on Optimism, asked at the newest block. Every question throws NoAnswer when there is no
 * answer: an outage says nothing about a key.
 */
export interface Registries {
  /** False: no node of the chain is named, so every question throws. */
  readonly canAnswer: boolean
  readonly chain: HomeChain
  /** `held`: a key of 32 bytes is an app key that the FID has, or had; `failed`: it never was. */
  hadAppKey(fid: number, key: Hex): Promise<'held' | 'failed'>
  /** Whether a key of 32 bytes is an app key the FID has added and not removed. */
  isActiveAppKey(fid: number, key: Hex): Promise<boolean>
  /**
   * Where the FID removed an app key that it had, which is for ever; undefined: it has not. `finalized`: and nothing undoes
   * that. The place is null when the node does not search logs so far back: that the key is removed, it says all the same.
   */
  removalOf(fid: number, key: Hex, at: 'latest' | 'finalized'): Promise<{ readonly place: LogPlace | null } | undefined>
  /** Whether a key was added as an app key of the FID above a block, as its Add log says. */
  addedAppKeyAfter(fid: number, key: Hex, block: number): Promise<boolean>
  /** The log that added an app key for the FID; null: there is none, or the node does not search logs so far back. */
  addedLog(fid: number, key: Hex): Promise<AddedLog | null>
  /** Whose the FID is, at a block that is named with the answer; undefined: nobody's. */
  custodyOf(fid: number): Promise<CustodyReading | undefined>
  /** Whether an address is the FID's custody address, or one it has added for signing in. */
  isCustody(fid: number, address: Address): Promise<boolean>
  isAuthAddress(fid: number, address: Address): Promise<boolean>
}

/** Source: farcasterxyz/contracts, KeyRegistry and IdRegistry. */
const abi = parseAbi([
  'struct KeyData { uint8 state; uint32 keyType; }',
  'function keyDataOf(uint256 fid, bytes key) view returns (KeyData)',
  'function custodyOf(uint256 fid) view returns (address custody)',
  'event Remove(uint256 indexed fid, bytes indexed key, bytes keyBytes)',
  'event Add(uint256 indexed fid, uint32 indexed keyType, bytes indexed key, bytes keyBytes, uint8 metadataType, bytes metadata)',
])
/** States of a key; removed is for ever. */
const unknown = 0
const added = 1
const removed = 2
const keyTypes = { app: 1, auth: 2 } as const

interface RegistryPlaces {
  readonly home: HomeChain
  readonly keyRegistry: string
  readonly idRegistry: string
  /** Below it neither has logs. */
  readonly fromBlock: number
}

export function createRegistries(
  chain: ChainClient,
  { home, keyRegistry, idRegistry, fromBlock }: RegistryPlaces,
): Registries {
  // These functions never revert, so whatever fails is the node, its address, or the registry's.
  const answered = async <T>(contract: string, ask: () => Promise<T>): Promise<T> => {
    try {
      return await ask()
    } catch (error) {
      throw new NoAnswer('unavailable', `${contract}: ${chain.failure(error).message}`)
    }
  }
  const keyDataOf = (fid: number, key: Hex, blockTag: 'latest' | 'finalized' = 'latest') =>
    answered('KeyRegistry', () =>
      chain.client().readContract({
        address: keyRegistry as Address,
        abi,
        functionName: 'keyDataOf',
        args: [BigInt(fid), key],
        blockTag,
      }),
    )
  const ofKeys = { address: keyRegistry as Address, abi } as const
  /** From the registry's first block on, or from 0 on a development chain that is shorter. */
  const wholeRange = async () => {
    const head = await answered('KeyRegistry', () => chain.client().getBlockNumber())
    return { fromBlock: head < fromBlock ? 0n : BigInt(fromBlock) }
  }
  /** Empty when the node does not search so many blocks. */
  const searched = async <Log>(search: () => Promise<Log[]>): Promise<Log[]> => {
    try {
      return await search()
    } catch (error) {
      if (refusedByNode(error)) return []
      throw new NoAnswer('unavailable', `KeyRegistry: ${chain.failure(error).message}`)
    }
  }
  const hasKey = async (fid: number, key: Hex, type: number) => {
    const { state, keyType } = await keyDataOf(fid, key)
    return state === added && keyType === type
  }
  return {
    canAnswer: chain.isSet,
    chain: home,
    async hadAppKey(fid, key) {
      const { state, keyType } = await keyDataOf(fid, key)
      // A key of whatever state but unknown was added once: what it signed before it was removed still stands.
      return state !== unknown && keyType === keyTypes.app ? 'held' : 'failed'
    },
    async addedAppKeyAfter(fid, key, block) {
      const logs = await answered('KeyRegistry', () =>
        chain.client().getContractEvents({
          address: keyRegistry as Address,
          abi,
          eventName: 'Add',
          args: { fid: BigInt(fid), keyType: keyTypes.app, key },
          fromBlock: BigInt(block), // above it there may be no block yet, which nodes refuse
          toBlock: 'latest',
        }),
      )
      return logs.some(({ blockNumber }) => blockNumber > BigInt(block))
    },
    async removalOf(fid, key, at) {
      if ((await keyDataOf(fid, key, at)).state !== removed) return undefined
      const args = { fid: BigInt(fid), key }
      const range = { ...(await wholeRange()), toBlock: at }
      const logs = await searched(() =>
        chain.client().getContractEvents({ ...ofKeys, eventName: 'Remove', args, ...range }),
      )
      return { place: placeOf(logs.at(-1)) }
    },
    async addedLog(fid, key) {
      const args = { fid: BigInt(fid), keyType: keyTypes.app, key }
      const range = { ...(await wholeRange()), toBlock: 'latest' } as const
      const logs = await searched(() =>
        chain.client().getContractEvents({ ...ofKeys, eventName: 'Add', args, ...range }),
      )
      const log = logs.at(-1)
      const place = placeOf(log)
      return place && { ...place, request_fid: requestFidOf(log?.args.metadata) }
    },
    async custodyOf(fid) {
      const { number, hash } = await answered('IdRegistry', () => chain.client().getBlock({ blockTag: 'latest' }))
      const address = await answered('IdRegistry', () =>
        chain.client().readContract({
          address: idRegistry as Address,
          abi,
          functionName: 'custodyOf',
          args: [BigInt(fid)],
          blockNumber: number,
        }),
      )
      if (address === zeroAddress) return undefined
      return { address: address.toLowerCase() as Address, block: Number(number), blockHash: hash }
    },
    isActiveAppKey: (fid, key) => hasKey(fid, key, keyTypes.app),
    // Registered as 20 bytes or as a word of 32: the contract takes any bytes for a key of this type.
    isAuthAddress: async (fid, address) =>
      (await hasKey(fid, address, keyTypes.auth)) || hasKey(fid, pad(address), keyTypes.auth),
    async isCustody(fid, address) {
      const custody = await answered('IdRegistry', () =>
        chain.client().readContract({
          address: idRegistry as Address,
          abi,
          functionName: 'custodyOf',
          args: [BigInt(fid)],
          blockTag: 'latest',
        }),
      )
      return custody.toLowerCase() === address.toLowerCase()
    },
  }
}

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
    return null // of another type, or of none
  }
}

/** Whether a node has answered that it does not do what it was asked, as many do not search many blocks at once. */
function refusedByNode(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false
  const http = error.walk((cause) => cause instanceof HttpRequestError) as HttpRequestError | null
  const status = http?.status ?? 0
  return error.walk((cause) => cause instanceof RpcRequestError) !== null || (status >= 400 && status < 429)
}
