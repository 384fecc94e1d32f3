import { type Protocol, verificationKey } from './account.ts'
import type { NewEvent } from './events.ts'
import { fakeHash, type Message } from './messages.ts'

export interface VerificationOptions {
  /** Default ethereum. Solana addresses are base58 text. */
  readonly protocol?: Protocol
  /** Chain of a contract wallet; absent: a plain key. */
  readonly contractChain?: number
  /** The older body name, which public documents still show. */
  readonly oldBody?: boolean
  /** When it was signed. Default: now. */
  readonly at?: Date
}

/**
 * The ways a verification ends: a removal message; the signer's key revoked; storage pruned; or named in the
 * `deletedMessages` of another message's merge (here of a Solana verification).
 */
export type Removal = 'message' | 'revoke' | 'prune' | 'merge'

export type Sign = (type: string, body: Record<string, unknown>) => Message

export interface Ending {
  readonly fid: number
  readonly address: string
  readonly protocol: Protocol
  /** The message that made the verification. */
  readonly message: Message
  readonly how: Removal
}

/** The event that ends a verification, and the verification that comes in its place, if any does. */
export function endVerification(
  { fid, address, protocol, message, how }: Ending,
  sign: Sign,
): { event: NewEvent; added?: { key: string; message: Message } } {
  switch (how) {
    case 'revoke':
      return { event: { type: 'HUB_EVENT_TYPE_REVOKE_MESSAGE', revokeMessageBody: { message } } }
    case 'prune':
      return { event: { type: 'HUB_EVENT_TYPE_PRUNE_MESSAGE', pruneMessageBody: { message } } }
    case 'merge': {
      const other = fakeHash('solana', fid, message.hash).slice(2, 46).replaceAll('0', 'z')
      const added = sign('MESSAGE_TYPE_VERIFICATION_ADD_ETH_ADDRESS', verificationBody(other, 'solana'))
      return { event: merge(added, [message]), added: { key: verificationKey('solana', other), message: added } }
    }
    case 'message': {
      const verificationRemoveBody = { address, protocol: protocolNames[protocol] }
      return { event: merge(sign('MESSAGE_TYPE_VERIFICATION_REMOVE', { verificationRemoveBody }), [message]) }
    }
  }
}

const protocolNames = { ethereum: 'PROTOCOL_ETHEREUM', solana: 'PROTOCOL_SOLANA' } as const

export function merge(message: Message, deletedMessages: readonly Message[] = []): NewEvent {
  return { type: 'HUB_EVENT_TYPE_MERGE_MESSAGE', mergeMessageBody: { message, deletedMessages } }
}

export function verificationBody(
  address: string,
  protocol: Protocol,
  { contractChain, oldBody }: VerificationOptions = {},
) {
  const signature = Buffer.alloc(65, 7).toString('base64')
  const blockHash = fakeHash('verified at', address)
  if (oldBody) return { verificationAddEthAddressBody: { address, ethSignature: signature, blockHash } }
  return {
    verificationAddAddressBody: {
      address,
      claimSignature: signature,
      blockHash: protocol === 'ethereum' ? blockHash : address,
      type: contractChain === undefined ? 0 : 1,
      chainId: contractChain ?? 0,
      protocol: protocolNames[protocol],
    },
  }
}
