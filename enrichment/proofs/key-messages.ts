import type { StoredKeyMessage } from '../../db/queries/sources/signer-keys.ts'
import { networkTime } from '../../social/messages.ts'
import { checkEnvelope } from '../../trust/envelope.ts'
import { readHubMessage } from '../../trust/hub-message.ts'
import { keyAddSigner, keyRemoveSigner } from '../../trust/key-message.ts'
import { mainnet, messageTypes } from '../../trust/message-data.ts'
import { isStorable } from './messages.ts'

/** Longest TTL of an off-chain app key, in seconds without use. Source: snapchain, `src/core/validations/key.rs`. */
const mostKeyTtl = 90 * 24 * 60 * 60

/**
 * A message that adds an app key off the chain or removes one, with who signed for it. Undefined: its signatures do not
 * hold, the network would not take it (a key without an end, a signature that had run out), or the key may sign no message
 * about an address. Whether the signer is the FID's custody is for the chain to say.
 */
export async function judgeKeyMessage(fid: number, message: unknown): Promise<StoredKeyMessage | undefined> {
  const read = isStorable(message) ? readHubMessage(message) : undefined
  const body = read?.data.body
  if (!read || read.data.fid !== fid || read.data.network !== mainnet) return undefined
  if (checkEnvelope(read) !== 'held') return undefined
  const at = networkTime(read.data.timestamp)
  if (body?.kind === 'key_add') {
    const mayVerify = body.scopes.includes(messageTypes.MESSAGE_TYPE_VERIFICATION_ADD_ETH_ADDRESS)
    const isTaken = body.ttl > 0 && body.ttl <= mostKeyTtl && body.deadline >= read.data.timestamp
    const signer = mayVerify && isTaken ? await keyAddSigner(fid, body) : undefined
    return signer && { kind: 'add', fid, key: body.key, signer, at, message }
  }
  if (body?.kind !== 'key_remove') return undefined
  const removal = { kind: 'remove', fid, key: body.key, at, message } as const
  if (body.signatureType === removalBy.key)
    return Buffer.compare(body.key, read.signer) === 0 ? { ...removal, signer: null } : undefined
  const isTaken = body.signatureType === removalBy.custody && body.deadline >= read.data.timestamp
  const signer = isTaken ? await keyRemoveSigner(fid, body) : undefined
  return signer && { ...removal, signer }
}

/** Codes for who signed a key's removal. Source: snapchain, `src/core/validations/key.rs`. */
const removalBy = { custody: 1, key: 2 } as const
