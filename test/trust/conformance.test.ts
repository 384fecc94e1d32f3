import { readFileSync } from 'node:fs'
import { hexToBytes } from 'viem'
import { expect, test } from 'vitest'
import { checkEnvelope } from '../../trust/envelope.ts'
import { keyAddSigner } from '../../trust/key-add.ts'
import { decodeVerification } from '../../trust/message-data.ts'
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

const vectors: Vectors = JSON.parse(readFileSync(new URL('../../docs/vectors.json', import.meta.url), 'utf8'))
const bytes = (hex: string) => Buffer.from(hex, 'hex')

/** The network's own thirteen. */
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
