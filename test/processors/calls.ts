import { concat, encodeFunctionData, type Hex, keccak256, parseAbi, toBytes } from 'viem'
import type { ChainLog } from '../../processors/mapping/block.ts'

/** Values of a token call that viem encodes, for tests of the decoders of the processors. */
export interface Payment {
  readonly payer: Hex
  readonly recipient: Hex
  readonly amount: bigint
  readonly nonce: Hex
}

export type EntryPoint = 'transfer' | 'receive' | 'transferBytes' | 'receiveBytes' | 'approve'

/** Selectors of the EIP-3009 functions that pay, and of their variants with the signature as bytes. */
export const selectors = {
  transfer: '0xe3ee160e',
  receive: '0xef55bec6',
  transferBytes: '0xcf092995',
  receiveBytes: '0x88b7ab63',
} as const

export const token = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
export const batcher: Hex = '0xca11bde05977b3631167028862be2a173976ca11'

const splitAbi = parseAbi([
  'function transferWithAuthorization(address, address, uint256, uint256, uint256, bytes32, uint8, bytes32, bytes32)',
  'function receiveWithAuthorization(address, address, uint256, uint256, uint256, bytes32, uint8, bytes32, bytes32)',
  'function approveWithAuthorization(address, address, uint256, uint256, uint256, bytes32, uint8, bytes32, bytes32)',
])
const bytesAbi = parseAbi([
  'function transferWithAuthorization(address, address, uint256, uint256, uint256, bytes32, bytes)',
  'function receiveWithAuthorization(address, address, uint256, uint256, uint256, bytes32, bytes)',
])
const batcherAbi = parseAbi([
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'function aggregate3(Call[] calls)',
])

export function addressFor(name: string): Hex {
  return `0x${keccak256(toBytes(name)).slice(-40)}`
}

export function paymentOf(name: string, more: Partial<Payment> = {}): Payment {
  return {
    payer: addressFor(`payer ${name}`),
    recipient: addressFor(`recipient ${name}`),
    amount: 1_500_000n,
    nonce: keccak256(toBytes(name)),
    ...more,
  }
}

export function callOf(entry: EntryPoint, { payer, recipient, amount, nonce }: Payment): Hex {
  const common = [payer, recipient, amount, 0n, 2n ** 40n, nonce] as const
  const word = keccak256('0x5167')
  if (entry === 'transferBytes' || entry === 'receiveBytes') {
    const functionName = entry === 'transferBytes' ? 'transferWithAuthorization' : 'receiveWithAuthorization'
    return encodeFunctionData({ abi: bytesAbi, functionName, args: [...common, concat([word, word, '0x1b'])] })
  }
  const functionName = `${entry}WithAuthorization` as const
  return encodeFunctionData({ abi: splitAbi, functionName, args: [...common, 27, word, word] })
}

export function batchOf(...calls: (readonly [Hex, Hex])[]): Hex {
  const args = calls.map(([target, callData]) => ({ target, allowFailure: true, callData }))
  return encodeFunctionData({ abi: batcherAbi, functionName: 'aggregate3', args: [args] })
}

const usedTopic = keccak256(toBytes('AuthorizationUsed(address,bytes32)'))
const transferTopic = keccak256(toBytes('Transfer(address,address,uint256)'))

export function used({ payer, nonce }: Payment, logIndex: number, address: string = token): ChainLog {
  return { logIndex, transactionIndex: 0, address, topics: [usedTopic, wordOf(payer), nonce], data: '0x' }
}

export function moved({ payer, recipient, amount }: Payment, logIndex: number, address: string = token): ChainLog {
  const topics = [transferTopic, wordOf(payer), wordOf(recipient)]
  return { logIndex, transactionIndex: 0, address, topics, data: `0x${amount.toString(16).padStart(64, '0')}` }
}

function wordOf(address: string): string {
  return `0x${address.slice(2).padStart(64, '0')}`
}
