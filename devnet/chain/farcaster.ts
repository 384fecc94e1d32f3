import { type Address, encodeFunctionData, type Hex, zeroAddress } from 'viem'
import { socialChain } from '../../chains.config.ts'
import { idRegistryAbi, keyRegistryAbi } from './abi.ts'
import type { Call } from './chain.ts'
import { addressesOf } from './genesis.ts'

const { idRegistry, keyRegistry } = addressesOf(socialChain().name) as Record<'idRegistry' | 'keyRegistry', Address>
/** Ed25519. Source: farcasterxyz/contracts, KeyRegistry. */
const appKeyType = 1
/** Signed key request. Source: the same. */
const requestMetadataType = 1

/** Gives a FID to an address that has none; the address is its custody. On Optimism, as all of these. */
export function registerFid(fid: bigint, custody: Address, recovery: Address = zeroAddress): Call {
  const args = [fid, custody, recovery] as const
  return { to: idRegistry, data: encodeFunctionData({ abi: idRegistryAbi, functionName: 'registerId', args }) }
}

export function transferFid(fid: bigint, to: Address): Call {
  return {
    to: idRegistry,
    data: encodeFunctionData({ abi: idRegistryAbi, functionName: 'transferId', args: [fid, to] }),
  }
}

/** What the recovery address of a FID does: its custody changes without its custody's signature. */
export function recoverFid(fid: bigint, to: Address): Call {
  return {
    to: idRegistry,
    data: encodeFunctionData({ abi: idRegistryAbi, functionName: 'recoverId', args: [fid, to] }),
  }
}

/** `key`: the 32 bytes of an Ed25519 public key. */
export function addAppKey(fid: bigint, key: Hex, metadata: Hex = '0x'): Call {
  const args = [fid, appKeyType, key, requestMetadataType, metadata] as const
  return { to: keyRegistry, data: encodeFunctionData({ abi: keyRegistryAbi, functionName: 'addKey', args }) }
}

export function removeAppKey(fid: bigint, key: Hex): Call {
  return {
    to: keyRegistry,
    data: encodeFunctionData({ abi: keyRegistryAbi, functionName: 'removeKey', args: [fid, key] }),
  }
}
