import { type Address, encodeFunctionData, type Hex, type LocalAccount, zeroAddress, zeroHash } from 'viem'
import { type ChainName, defaultChainNames } from '../../config/chains.ts'
import { identityAbi, registrarAbi, reputationAbi } from './abi.ts'
import type { Call, DevChain } from './chain.ts'
import { addressesOf } from './genesis.ts'

// The registries stand at the same addresses on every chain.
const { registry, reputation, batchRegistrar, passingRegistrar } = addressesOf(defaultChainNames[0] as ChainName)

export interface Metadata {
  readonly key: string
  readonly value: Hex
}

/** Registers an identity for the sender. Without a URI it calls the overload that takes none. */
export function register(uri?: string, metadata?: readonly Metadata[]): Call {
  if (metadata) {
    const entries = metadata.map(({ key, value }) => ({ metadataKey: key, metadataValue: value }))
    return onRegistry(encodeFunctionData({ abi: identityAbi, functionName: 'register', args: [uri ?? '', entries] }))
  }
  if (uri === undefined) return onRegistry(encodeFunctionData({ abi: identityAbi, functionName: 'register', args: [] }))
  return onRegistry(encodeFunctionData({ abi: identityAbi, functionName: 'register', args: [uri] }))
}

/** Many identities in one transaction, about 150,000 gas each; they go to `to`, or stay with the batch contract. */
export function registerMany(uris: readonly string[], to: Address = zeroAddress): Call {
  const data = encodeFunctionData({ abi: registrarAbi, functionName: 'registerMany', args: [registry, uris, to] })
  return { to: batchRegistrar, data }
}

/** A contract registers and passes the identity on inside the receiver's hook, before Registered is emitted. */
export function registerPassingOn(uri: string, heir: Address): Call {
  const data = encodeFunctionData({ abi: registrarAbi, functionName: 'register', args: [registry, uri, heir] })
  return { to: passingRegistrar, data }
}

/** Registers without a URI through a contract that sets it and passes the identity on inside the receiver's hook. */
export function registerNamedInHook(uri: string, heir: Address): Call {
  const args = [registry, uri, heir] as const
  return {
    to: passingRegistrar,
    data: encodeFunctionData({ abi: registrarAbi, functionName: 'registerNamedInHook', args }),
  }
}

export function setAgentUri(agentId: bigint, uri: string): Call {
  return onRegistry(encodeFunctionData({ abi: identityAbi, functionName: 'setAgentURI', args: [agentId, uri] }))
}

/** Sets a metadata value; the contract reverts for the key `agentWallet`. */
export function setMetadata(agentId: bigint, { key, value }: Metadata): Call {
  return onRegistry(encodeFunctionData({ abi: identityAbi, functionName: 'setMetadata', args: [agentId, key, value] }))
}

export interface WalletRequest {
  readonly agentId: bigint
  /** The new wallet, which signs its consent. */
  readonly wallet: LocalAccount
  /** Owner of the identity; it or an operator sends the call. */
  readonly owner: Address
  /** The new wallet, when it is a contract; `wallet` then is the contract's owner. */
  readonly as?: Address
}

/** Sets the agent wallet of an identity. The contract accepts deadlines of five minutes at most. */
export async function setAgentWallet(
  chain: DevChain,
  { agentId, wallet, owner, as = wallet.address }: WalletRequest,
): Promise<Call> {
  const { timestamp } = await chain.client.getBlock()
  const deadline = timestamp + 240n
  const signature = await wallet.signTypedData({
    domain: { name: 'ERC8004IdentityRegistry', version: '1', chainId: chain.chainId, verifyingContract: registry },
    types: {
      AgentWalletSet: [
        { name: 'agentId', type: 'uint256' },
        { name: 'newWallet', type: 'address' },
        { name: 'owner', type: 'address' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'AgentWalletSet',
    message: { agentId, newWallet: as, owner, deadline },
  })
  const args = [agentId, as, deadline, signature] as const
  return onRegistry(encodeFunctionData({ abi: identityAbi, functionName: 'setAgentWallet', args }))
}

export function unsetAgentWallet(agentId: bigint): Call {
  return onRegistry(encodeFunctionData({ abi: identityAbi, functionName: 'unsetAgentWallet', args: [agentId] }))
}

/** Transfers an identity; sent by `from` or by an approved operator. */
export function transferIdentity(agentId: bigint, from: Address, to: Address): Call {
  return onRegistry(encodeFunctionData({ abi: identityAbi, functionName: 'transferFrom', args: [from, to, agentId] }))
}

/** Lets somebody else act for one identity. */
export function approveOperator(agentId: bigint, operator: Address): Call {
  return onRegistry(encodeFunctionData({ abi: identityAbi, functionName: 'approve', args: [operator, agentId] }))
}

/** Lets somebody else act for all identities of the sender, or no longer. */
export function setOperator(operator: Address, approved: boolean): Call {
  const args = [operator, approved] as const
  return onRegistry(encodeFunctionData({ abi: identityAbi, functionName: 'setApprovalForAll', args }))
}

/** Burns an identity; only local contracts can, the real registry has no burn. */
export function burnIdentity(agentId: bigint): Call {
  return onRegistry(encodeFunctionData({ abi: identityAbi, functionName: 'burn', args: [agentId] }))
}

/** The first identity that a transaction registered, once it is mined; throws when it registered none. */
export async function newIdentity(chain: DevChain, hash: Hex): Promise<bigint> {
  const { logs } = await chain.mined(hash)
  const log = logs.find(({ address, topics }) => address === registry && topics[0] === registeredTopic)
  if (!log?.topics[1]) throw new Error(`${chain.name}: transaction ${hash} registered nothing`)
  return BigInt(log.topics[1])
}
const registeredTopic = '0xca52e62c367d81bb2e328eb795f7c7ba24afb478408a26c0e201d155c449bc4a'

export interface FeedbackInput {
  readonly agentId: bigint
  /** Rating, scaled by 10^-decimals. */
  readonly value: bigint
  readonly decimals?: number
  readonly tag1?: string
  readonly tag2?: string
  readonly endpoint?: string
  readonly uri?: string
  readonly hash?: Hex
}

/** Gives feedback on an identity; the contract refuses its owner and operators as senders. */
export function giveFeedback(feedback: FeedbackInput): Call {
  const { agentId, value, decimals = 0, tag1 = '', tag2 = '', endpoint = '', uri = '', hash = zeroHash } = feedback
  const args = [agentId, value, decimals, tag1, tag2, endpoint, uri, hash] as const
  return { to: reputation, data: encodeFunctionData({ abi: reputationAbi, functionName: 'giveFeedback', args }) }
}

/** Revokes feedback; sent by the client who gave it. Indexes count from 1 per client of an identity. */
export function revokeFeedback(agentId: bigint, index: bigint): Call {
  const args = [agentId, index] as const
  return { to: reputation, data: encodeFunctionData({ abi: reputationAbi, functionName: 'revokeFeedback', args }) }
}

/** Appends a response to existing feedback; anybody may send it. */
export function appendResponse(agentId: bigint, client: Hex, index: bigint, uri: string): Call {
  const args = [agentId, client, index, uri, zeroHash] as const
  return { to: reputation, data: encodeFunctionData({ abi: reputationAbi, functionName: 'appendResponse', args }) }
}

function onRegistry(data: Hex): Call {
  return { to: registry, data }
}
