import type { LocalAccount } from 'viem'
import { type Message, type MessageSigner, makeMessage } from '../../devnet/hub/messages.ts'

/** The message that adds an account's app key off the chain, signed for by an address, as a hub shows it. */
export async function keyAddMessage(
  { fid, appKey }: { readonly fid: number; readonly appKey: MessageSigner },
  custody: LocalAccount,
  at: Date,
  bounds: { readonly ttl?: number; readonly deadline?: number; readonly scopes?: readonly number[] } = {},
): Promise<Message> {
  const { ttl = 7_776_000, deadline = 400_000_000, scopes = [7] } = bounds
  const said = { keyType: 1, scopes, ttl, nonce: 1, deadline }
  const custodySignature = await custody.signTypedData({
    domain: { name: 'Farcaster KeyAdd', version: '1', chainId: 1 },
    types: {
      KeyAdd: [
        { name: 'fid', type: 'uint256' },
        { name: 'key', type: 'bytes' },
        { name: 'keyType', type: 'uint32' },
        { name: 'scopes', type: 'uint32[]' },
        { name: 'ttl', type: 'uint32' },
        { name: 'nonce', type: 'uint32' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'KeyAdd',
    message: {
      fid: BigInt(fid),
      key: appKey.publicKey as `0x${string}`,
      ...said,
      deadline: BigInt(said.deadline),
    },
  })
  const keyAddBody = { key: appKey.publicKey, custodySignature, ...said }
  return makeMessage('MESSAGE_TYPE_KEY_ADD', { fid, signer: appKey, unixMs: at.getTime() }, { keyAddBody })
}

/** The message that removes an app key off the chain: signed for by an address, or by the key itself. */
export async function keyRemoveMessage(
  { fid, appKey }: { readonly fid: number; readonly appKey: MessageSigner },
  custody: LocalAccount | undefined,
  at: Date,
  { deadline = 400_000_000, signer = appKey }: { readonly deadline?: number; readonly signer?: MessageSigner } = {},
): Promise<Message> {
  const said = { nonce: 2, deadline }
  const signature = await custody?.signTypedData({
    domain: { name: 'Farcaster KeyAdd', version: '1', chainId: 1 },
    types: {
      KeyRemove: [
        { name: 'fid', type: 'uint256' },
        { name: 'key', type: 'bytes' },
        { name: 'nonce', type: 'uint32' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'KeyRemove',
    message: { fid: BigInt(fid), key: appKey.publicKey as `0x${string}`, ...said, deadline: BigInt(deadline) },
  })
  const keyRemoveBody = { key: appKey.publicKey, signature: signature ?? '0x', signatureType: custody ? 1 : 2, ...said }
  return makeMessage('MESSAGE_TYPE_KEY_REMOVE', { fid, signer, unixMs: at.getTime() }, { keyRemoveBody })
}
