import { secp256k1 } from '@noble/curves/secp256k1.js'
import { claimDigest } from '../../trust/verification-claim.ts'
import { type Protocol, verificationKey } from './account.ts'
import type { NewEvent } from './events.ts'
import { fakeHash, type Message, type MessageSigner } from './messages.ts'

export interface VerificationOptions {
  /** Default ethereum. Solana addresses are base58 text. */
  readonly protocol?: Protocol
  /** Chain of a contract wallet; absent: a plain key. */
  readonly contractChain?: number
  /** The older body name, which public documents still show. */
  readonly oldBody?: boolean
  /** When it was signed. Default: now. */
  readonly at?: Date
  /** The address's private key, 0x hex, to sign the claim with. Absent: the claim's signature is not valid. */
  readonly privateKey?: string
  /** Signs the message in place of the account's key. */
  readonly appKey?: MessageSigner
  /** The signature of a contract wallet, 0x hex, over the claim on `contractChain`. */
  readonly walletSignature?: string
}

/**
 * The ways a verification ends: a removal message; the signer's key revoked; storage pruned; or named in the
 * `deletedMessages` of another message's merge (here of a Solana verification).
 */
export type Removal = 'message' | 'revoke' | 'prune' | 'merge'

export type Sign = (type: string, body: Record<string, unknown>) => Message

interface Ending {
  readonly fid: number
  readonly address: string
  readonly protocol: Protocol
  /** The message that made the verification. */
  readonly message: Message
  readonly how: Removal
}

/** The event that ends a verification, the verification that comes in its place and the message that ended it, if any. */
export function endVerification(
  { fid, address, protocol, message, how }: Ending,
  sign: Sign,
): { event: NewEvent; added?: { key: string; message: Message }; removal?: Message } {
  switch (how) {
    case 'revoke':
      return { event: { type: 'HUB_EVENT_TYPE_REVOKE_MESSAGE', revokeMessageBody: { message } } }
    case 'prune':
      return { event: { type: 'HUB_EVENT_TYPE_PRUNE_MESSAGE', pruneMessageBody: { message } } }
    case 'merge': {
      const other = fakeHash('solana', fid, message.hash).slice(2, 46).replaceAll('0', 'z')
      const added = sign(
        'MESSAGE_TYPE_VERIFICATION_ADD_ETH_ADDRESS',
        verificationBody({ fid, address: other }, 'solana'),
      )
      return { event: merge(added, [message]), added: { key: verificationKey('solana', other), message: added } }
    }
    case 'message': {
      const verificationRemoveBody = { address, protocol: protocolNames[protocol] }
      const removal = sign('MESSAGE_TYPE_VERIFICATION_REMOVE', { verificationRemoveBody })
      return { event: merge(removal, [message]), removal }
    }
  }
}

const protocolNames = { ethereum: 'PROTOCOL_ETHEREUM', solana: 'PROTOCOL_SOLANA' } as const

export function merge(message: Message, deletedMessages: readonly Message[] = []): NewEvent {
  return { type: 'HUB_EVENT_TYPE_MERGE_MESSAGE', mergeMessageBody: { message, deletedMessages } }
}

export function verificationBody(
  { fid, address }: { fid: number; address: string },
  protocol: Protocol,
  options: VerificationOptions = {},
) {
  const { contractChain, oldBody } = options
  const blockHash = blockHashOf(address)
  const signature = protocol === 'ethereum' ? claimSignature({ fid, address, blockHash }, options) : unsigned
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

/** The block that a verification of an address names. */
export function blockHashOf(address: string): string {
  return fakeHash('verified at', address)
}

const unsigned = Buffer.alloc(65, 7).toString('base64')
const mainnet = 1

/** The digest that an address signs to belong to a FID, for a key or for a contract wallet of a chain. */
export function verificationDigest(
  { fid, address, blockHash }: { fid: number; address: string; blockHash: string },
  contractChain?: number,
): `0x${string}` {
  const claim = {
    address: Buffer.from(address.slice(2), 'hex'),
    blockHash: Buffer.from(blockHash.slice(2), 'hex'),
    verificationType: contractChain === undefined ? 0 : 1,
    chainId: contractChain ?? 0,
  }
  return claimDigest(fid, claim, mainnet)
}

function claimSignature(
  claim: { fid: number; address: string; blockHash: string },
  { privateKey, walletSignature, contractChain }: VerificationOptions,
): string {
  if (walletSignature) return Buffer.from(walletSignature.slice(2), 'hex').toString('base64')
  if (!privateKey) return unsigned
  const digest = Buffer.from(verificationDigest(claim, contractChain).slice(2), 'hex')
  const [recovery = 0, ...rs] = secp256k1.sign(digest, Buffer.from(privateKey.slice(2), 'hex'), {
    prehash: false,
    format: 'recovered',
  })
  return Buffer.from([...rs, 27 + recovery]).toString('base64')
}
