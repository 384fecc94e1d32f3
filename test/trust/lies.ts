import { messageHash } from '../../trust/envelope.ts'
import { readHubMessage } from '../../trust/hub-message.ts'

type Json = Record<string, unknown>

/** A verification in the form of Snapchain's API. */
interface HubVerification {
  readonly data: {
    readonly fid: number
    readonly timestamp: number
    readonly verificationAddAddressBody: {
      readonly address: string
      readonly claimSignature: string
      readonly blockHash: string
    }
  }
  readonly hash: string
  readonly signature: string
  readonly signer: string
}

const flipped = (text: string) => `${text.slice(0, 10)}${text[10] === '0' ? '1' : '0'}${text.slice(11)}`
const flippedBase64 = (text: string) =>
  Buffer.from(Buffer.from(text, 'base64').map((byte, at) => (at === 20 ? byte ^ 1 : byte))).toString('base64')

/** [name, message] of the forgeries that a lying hub can make of a true message, with the help of another. */
export function liesAbout(message: HubVerification, other: HubVerification): [string, Json][] {
  const add = message.data.verificationAddAddressBody
  const changed = (data: Json, rest: Json = {}): Json => ({ ...message, ...rest, data: { ...message.data, ...data } })
  const inBody = (body: Json) => changed({ verificationAddAddressBody: { ...add, ...body } })
  const otherBytes = readHubMessage(other)?.dataBytes ?? new Uint8Array()
  const bytes = readHubMessage(message)?.dataBytes ?? new Uint8Array()
  const reordered = Buffer.concat([bytes.subarray(2), bytes.subarray(0, 2)]) // the type last
  const hashOf = (text: Uint8Array) => `0x${Buffer.from(messageHash(text)).toString('hex')}`
  return [
    ['another fid', changed({ fid: 3 })],
    ['another time', changed({ timestamp: message.data.timestamp + 1 })],
    ['another network', changed({ network: 'FARCASTER_NETWORK_TESTNET' })],
    ['another type', changed({ type: 'MESSAGE_TYPE_VERIFICATION_REMOVE' })],
    ['a type nobody knows', changed({ type: 'MESSAGE_TYPE_OTHER' })],
    ['another address', inBody({ address: `0x${'ab'.repeat(20)}` })],
    ['an address of the wrong length', inBody({ address: `0x${'ab'.repeat(19)}` })],
    ['another block', inBody({ blockHash: flipped(add.blockHash) })],
    ['another claim signature', inBody({ claimSignature: flippedBase64(add.claimSignature) })],
    ['no claim signature', inBody({ claimSignature: undefined })],
    ['an empty claim signature', inBody({ claimSignature: '' })],
    [
      'a claim signature of another claim',
      inBody({ claimSignature: other.data.verificationAddAddressBody.claimSignature }),
    ],
    ['a claim signature that is no base64', inBody({ claimSignature: '%%%' })],
    ['a contract wallet', inBody({ type: 1 })],
    ['a contract wallet of mainnet', inBody({ type: 1, chainId: 1 })],
    ['a contract wallet of a chain that is not asked', inBody({ type: 1, chainId: 8453 })],
    ['a kind nobody knows', inBody({ type: 2 })],
    ['a chain next to a key', inBody({ chainId: 10 })],
    ['another protocol', inBody({ protocol: 'PROTOCOL_SOLANA' })],
    ['another hash', changed({}, { hash: flipped(message.hash) })],
    ['a hash of another message', changed({}, { hash: other.hash })],
    ['another signature', changed({}, { signature: flippedBase64(message.signature) })],
    ['a signature of another message', changed({}, { signature: other.signature })],
    ['no signature', changed({}, { signature: '' })],
    ['a foreign key', changed({}, { signer: '0x217a69e523fbcc51643021d78f9a0fc98ac4e56c7418a2825f0870c81a5d18aa' })],
    ['a key of small order', changed({}, { signer: `0x01${'00'.repeat(31)}` })],
    ['a key that is no point', changed({}, { signer: `0x${'ff'.repeat(32)}` })],
    ['bytes of another message', changed({}, { dataBytes: Buffer.from(otherBytes).toString('base64') })],
    ['the fields in another order', changed({}, { dataBytes: reordered.toString('base64'), hash: hashOf(reordered) })],
    ['the message of another address whole', { ...other }],
    ['no body', changed({ verificationAddAddressBody: null })],
    [
      'a body of something else',
      changed({ verificationAddAddressBody: null, userDataBody: { type: 'USER_DATA_TYPE_BIO', value: 'x' } }),
    ],
    ['no data at all', { hash: message.hash }],
  ]
}
