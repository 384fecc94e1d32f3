import { type Address, encodeFunctionData, type Hex, zeroAddress } from 'viem'
import { socialChain } from '../../config/chains.ts'
import { idRegistryAbi, keyRegistryAbi } from './abi.ts'
import type { Call } from './chain.ts'
import { addressesOf } from './genesis.ts'

const { idRegistry, keyRegistry } = addressesOf(socialChain().name) as Record<'idRegistry' | 'keyRegistry', Address>
/** Key type of Ed25519 app keys. Source: farcasterxyz/contracts, KeyRegistry. */
const appKeyType = 1
/** Metadata type of a signed key request. Source: farcasterxyz/contracts, KeyRegistry. */
const requestMetadataType = 1

/** Gives a FID to an address that has none, which becomes its custody address. All calls here are for Optimism. */
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

/** Call of a FID's recovery address that changes its custody address without that address's signature. */
export function recoverFid(fid: bigint, to: Address): Call {
  return {
    to: idRegistry,
    data: encodeFunctionData({ abi: idRegistryAbi, functionName: 'recoverId', args: [fid, to] }),
  }
}

/** Adds an app key to the sender's FID; `key` is a 32-byte Ed25519 public key. */
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
