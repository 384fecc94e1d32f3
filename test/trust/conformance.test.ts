import { readFileSync } from 'node:fs'
import { hexToBytes } from 'viem'
import { expect, test } from 'vitest'
import { checkEnvelope } from '../../trust/envelope.ts'
import { keyAddSigner } from '../../trust/key-message.ts'
import { decodeVerification, encodeMessageData, messageTypes } from '../../trust/message-data.ts'
import { isNameProof } from '../../trust/name-proof.ts'
import { selfTest } from '../../trust/proof/self-test.ts'
import { checkKeyClaim, claimDigest } from '../../trust/verification-claim.ts'

// The vectors that are published for other programs, run by this one.

interface Vectors {
  readonly messages: readonly {
    readonly id: string
    readonly expected: string
    readonly data_bytes: string
    readonly hash: string
    readonly signature: string
    readonly signer: string
  }[]
  readonly claims: readonly {
    readonly id: string
    readonly expected: string
    readonly fid: number
    readonly address: `0x${string}`
    readonly block_hash: `0x${string}`
    readonly network: number
    readonly type: number
    readonly chain_id: number
    readonly signature: `0x${string}`
    readonly digest: string
  }[]
  readonly key_adds: readonly {
    readonly id: string
    readonly fid: number
    readonly key: string
    readonly key_type: number
    readonly scopes: number[]
    readonly ttl: number
    readonly nonce: number
    readonly deadline: number
    readonly custody_signature: string
    readonly signed_by?: string
    readonly not_signed_by?: string
  }[]
}

const vectors: Vectors = JSON.parse(readFileSync(new URL('../../trust/vectors.json', import.meta.url), 'utf8'))
const bytes = (hex: string) => Buffer.from(hex, 'hex')

/** Ids of the thirteen messages of the network's own corpus. */
const corpus = [
  'cast_add_basic',
  'cast_remove',
  'reaction_add_like',
  'reaction_remove_like',
  'link_add_follow',
  'link_remove_follow',
  'link_add_block',
  'link_remove_block',
  'link_compact_state_follow',
  'user_data_add_display',
  'verification_add_eth',
  'key_add_ed25519',
  'key_remove_custody',
]

test('the thirteen messages of the network’s corpus are there, and ones that should not hold of each', () => {
  const expected = (id: string) => vectors.messages.find((one) => one.id === id)?.expected
  for (const id of corpus) {
    expect([id, expected(id)]).toEqual([id, 'held'])
    expect(expected(`${id}.flipped_signature`)).toBe('failed')
  }
  expect(new Set(vectors.messages.map(({ id }) => id)).size).toBe(vectors.messages.length)
})

test.each(vectors.messages)('the envelope of $id: $expected', ({ expected, data_bytes, hash, signature, signer }) => {
  const envelope = {
    dataBytes: bytes(data_bytes),
    hash: bytes(hash),
    signature: bytes(signature),
    signer: bytes(signer),
  }
  expect(checkEnvelope(envelope)).toBe(expected)
})

test.each(vectors.claims)(
  'the claim of $id: $expected',
  async ({ expected, fid, address, network, digest, ...claim }) => {
    const add = {
      address: hexToBytes(address),
      blockHash: hexToBytes(claim.block_hash),
      claimSignature: hexToBytes(claim.signature),
      verificationType: claim.type,
      chainId: claim.chain_id,
      protocol: 0,
    }
    expect(claimDigest(fid, add, network)).toBe(digest)
    expect(await checkKeyClaim(fid, add, network)).toBe(expected)
  },
)

test('a message of the corpus whose claim signature is made up has a good envelope and a bad claim', async () => {
  const { data_bytes } = vectors.messages.find(({ id }) => id === 'verification_add_eth')!
  const { fid, network, body } = decodeVerification(bytes(data_bytes))!
  if (body.kind !== 'verification_add') return expect.fail('no verification')
  expect(await checkKeyClaim(fid, body, network)).toBe('failed')
})

test('the corpus’s removal of a key is rebuilt from its fields, byte for byte', () => {
  const { data_bytes } = vectors.messages.find(({ id }) => id === 'key_remove_custody')!
  const at = data_bytes.indexOf('1241') + 4 // field 2, 65 bytes
  const rebuilt = encodeMessageData({
    type: messageTypes.MESSAGE_TYPE_KEY_REMOVE,
    fid: 1234,
    timestamp: 94_608_000,
    network: 1,
    body: {
      kind: 'key_remove',
      key: bytes('06'.repeat(32)),
      signature: bytes(data_bytes.slice(at, at + 130)),
      signatureType: 1,
      deadline: 99_999_999,
      nonce: 2,
    },
  })
  expect(Buffer.from(rebuilt).toString('hex')).toBe(data_bytes)
})

test.each(vectors.key_adds)(
  'who signed for the key of $id',
  async ({ fid, key, signed_by, not_signed_by, ...said }) => {
    const signer = await keyAddSigner(fid, {
      key: bytes(key),
      keyType: said.key_type,
      custodySignature: bytes(said.custody_signature),
      deadline: said.deadline,
      nonce: said.nonce,
      metadata: new Uint8Array(),
      metadataType: 1,
      scopes: said.scopes,
      ttl: said.ttl,
    })
    if (signed_by) expect(signer).toBe(signed_by)
    else expect(signer).not.toBe(not_signed_by)
  },
)

test('the portable check’s test of itself is of these vectors, and holds', async () => {
  const lines = await selfTest()
  expect(lines.filter(({ outcome }) => outcome !== 'held')).toEqual([])
  const source = readFileSync(new URL('../../trust/proof/self-test.ts', import.meta.url), 'utf8')
  const named = ['mainnet_verification_2024', 'mainnet_verification_snapchain', 'mainnet_reaction']
  const hashes = vectors.messages.filter(({ id }) => named.includes(id)).map(({ hash }) => hash)
  const digests = vectors.claims.filter(({ expected }) => expected === 'held').map(({ digest }) => digest)
  expect([hashes.length, digests.length]).toEqual([3, 4])
  for (const value of [...hashes, ...digests]) expect(source).toContain(value)
})

test('the name server’s signature holds for its name, time and owner alone', async () => {
  const proof = {
    name: 'farcaster',
    timestamp: 1_628_882_891,
    owner: '0x8773442740c17c9d0f0b87022c722f9a136206ed',
    signature:
      '0xb7181760f14eda0028e0b647ff15f45235526ced3b4ae07fcce06141b73d32960d3253776e62f761363fb8137087192047763f4af838950a96f3885f3c2289c41b',
  } as const
  expect(await isNameProof(proof)).toBe(true)
  for (const lie of [
    { ...proof, name: 'farcastr' },
    { ...proof, timestamp: proof.timestamp + 1 },
    { ...proof, owner: '0x8773442740c17c9d0f0b87022c722f9a136206ee' },
    { ...proof, signature: `0x${'11'.repeat(65)}` },
    { ...proof, signature: '0x' },
  ] as const) {
    expect(await isNameProof(lie)).toBe(false)
  }
})
