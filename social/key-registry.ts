import { type Address, type Hex, pad, parseAbi } from 'viem'
import { NoAnswer } from '../hosts/no-answer.ts'
import type { ChainClient } from './chain-client.ts'

/**
 * Farcaster's registries on Optimism, asked at the newest block. Every question throws NoAnswer when there is no
 * answer: an outage says nothing about a key.
 */
export interface Registries {
  /** Whether a key of 32 bytes is an app key the FID has added and not removed. */
  isActiveAppKey(fid: number, key: Hex): Promise<boolean>
  /** Whether an address is the FID's custody address, or one it has added for signing in. */
  isCustody(fid: number, address: Address): Promise<boolean>
  isAuthAddress(fid: number, address: Address): Promise<boolean>
}

/** Source: farcasterxyz/contracts, KeyRegistry and IdRegistry. */
const abi = parseAbi([
  'struct KeyData { uint8 state; uint32 keyType; }',
  'function keyDataOf(uint256 fid, bytes key) view returns (KeyData)',
  'function custodyOf(uint256 fid) view returns (address custody)',
])
/** Added; 0 is unknown, 2 removed for ever. */
const added = 1
const keyTypes = { app: 1, auth: 2 } as const

export function createRegistries(
  chain: ChainClient,
  { keyRegistry, idRegistry }: { readonly keyRegistry: string; readonly idRegistry: string },
): Registries {
  // These functions never revert, so whatever fails is the node, its address, or the registry's.
  const answered = async <T>(contract: string, ask: () => Promise<T>): Promise<T> => {
    try {
      return await ask()
    } catch (error) {
      throw new NoAnswer('unavailable', `${contract}: ${chain.failure(error).message}`)
    }
  }
  const hasKey = async (fid: number, key: Hex, type: number) => {
    const data = await answered('KeyRegistry', () =>
      chain.client().readContract({
        address: keyRegistry as Address,
        abi,
        functionName: 'keyDataOf',
        args: [BigInt(fid), key],
        blockTag: 'latest',
      }),
    )
    return data.state === added && data.keyType === type
  }
  return {
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
