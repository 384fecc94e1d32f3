import {
  concatHex,
  getAddress,
  type Hex,
  keccak256,
  padHex,
  parseSignature,
  serializeCompactSignature,
  serializeErc6492Signature,
  signatureToCompactSignature,
  toBytes,
} from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { accountOf, funder, startDevChain } from '../../devnet/chain/chain.ts'
import { createWallet, walletOf } from '../../devnet/chain/wallets.ts'
import { blockHashOf, verificationDigest } from '../../devnet/hub/verifications.ts'
import { freePort } from '../../ops/ports.ts'
import { canonicalSignature } from '../../trust/key-signature.ts'
import { failure } from '../support/api/api.ts'
import {
  type Claimant,
  type ClaimStage,
  eip191Claim,
  freshNonce,
  post,
  startClaimStage,
  withdrawalOf,
} from '../support/api/claims.ts'

let stage: ClaimStage
let claimant: Claimant
beforeAll(async () => {
  stage = await startClaimStage()
})
beforeEach(async () => {
  claimant = await stage.claimant() // so many claims of a FID are accepted a day, and no more
})
afterAll(() => stage.stop())

let salts = 0
/** The address of a wallet of the claimant's key, verified for the fid; `deployed` creates it too. */
async function wallet({ deployed }: { deployed: boolean }) {
  const salt = padHex(`0x${(++salts).toString(16).padStart(2, '0')}`)
  const call = createWallet(stage.chain, claimant.account.address, salt)
  if (deployed) await stage.chain.execute(funder, call)
  const address = await walletOf(stage.chain, claimant.account.address, salt)
  const wrap = (signature: Hex) => serializeErc6492Signature({ address: call.to, data: call.data, signature })
  const hash = verificationDigest({ fid: claimant.fid, address, blockHash: blockHashOf(address.toLowerCase()) }, 10)
  const walletSignature = wrap(await claimant.account.sign!({ hash }))
  stage.hub.state.addVerification(claimant.fid, address, { contractChain: 10, walletSignature })
  return { address, wrap }
}

/** Any code at an address that is verified as a contract wallet on Optimism. */
async function codeAt(text: string, bytecode: Hex) {
  const { address } = accountOf(text)
  await stage.chain.client.setCode({ address, bytecode })
  stage.hub.state.addVerification(claimant.fid, address, { contractChain: 10, privateKey: claimant.privateKey })
  return address
}

const stranger = accountOf('stranger')
/** Bytecode that answers every call with the ERC-1271 magic value: any signature is valid. */
const yes = '0x631626ba7e60e01b60005260206000f3'

test('a deployed contract wallet claims with its owner’s signature, and with nobody else’s', async () => {
  const { address } = await wallet({ deployed: true })
  expect((await post(stage.api, await eip191Claim(stage, claimant, { address }))).status).toBe(200)
  const forged = await post(stage.api, await eip191Claim(stage, claimant, { address, signer: stranger }))
  expect(await failure(forged)).toMatchObject({ status: 400, error: 'ERR_SIG_INVALID' })
})

/** The 64 bytes of a signature (EIP-2098). */
const compact = (signature: Hex) => serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)))

test('a signature of 64 bytes (EIP-2098) is the one of 65: of a key, of a contract wallet, and of either parity', async () => {
  const { address } = await wallet({ deployed: true })
  const seen = new Set<string>()
  for (let n = 0; n < 20 && seen.size < 2; n++) {
    stage.clock.now += 601_000
    for (const options of [{}, { address }] as { address?: Hex }[]) {
      const body = await eip191Claim(stage, claimant, options)
      const short = { ...body, signature: compact(body.signature) }
      expect(short.signature).toHaveLength(130)
      if (!options.address) seen.add(body.signature.slice(-2))
      const accepted = await post(stage.api, short)
      expect(accepted.status).toBe(200)
      const replay = await failure(await post(stage.api, body))
      expect(replay).toMatchObject({ status: 409, replay: true, original: await accepted.json() })
    }
  }
  expect([...seen].sort()).toEqual(['1b', '1c'])
  const forged = await eip191Claim(stage, claimant, { signer: stranger })
  const refused = await post(stage.api, { ...forged, signature: compact(forged.signature) })
  expect(await failure(refused)).toMatchObject({ status: 400, error: 'ERR_SIG_INVALID' })
})

/** The forms in which wallets write one signature of a key. */
const formsOf = (signature: Hex) => {
  const parity = signature.endsWith('1c') ? '01' : '00'
  return [compact(signature), `${signature.slice(0, -2)}${parity}` as Hex, signature]
}

test('a signature is the same proof in each form that wallets write it in', async () => {
  const body = await eip191Claim(stage, claimant)
  const [first, ...others] = formsOf(body.signature)
  expect((await post(stage.api, { ...body, signature: first })).status).toBe(200)
  for (const signature of others) {
    expect(await failure(await post(stage.api, { ...body, signature }))).toMatchObject({ status: 409, replay: true })
  }
})

test('so is a token that the custody address signed', async () => {
  const { fid, custody } = await stage.claimant()
  const { jfs } = await withdrawalOf(custody, 'custody', fid, stage.clock.now)
  const [header, payload, encoded] = jfs.split('.') as [string, string, string]
  const forms = formsOf(`0x${Buffer.from(encoded, 'base64url').toString('hex')}`)
  const bytes = forms.map((form) => Buffer.from(form.slice(2), 'hex').toString('base64url'))
  const texts = forms.map((form) => Buffer.from(form).toString('base64url'))
  const send = (signature: string | undefined) =>
    post(stage.api, { method: 'jfs', fid, jfs: `${header}.${payload}.${signature}` }, { query: '/withdraw' })
  const [first, ...others] = [...bytes, ...texts]
  expect((await send(first)).status).toBe(200)
  for (const other of others) expect(await failure(await send(other))).toMatchObject({ status: 409, replay: true })
})

test('what a contract wallet takes for an approval is sent to it as it is', () => {
  // A Safe reads its owner, zeros and 1 as "approved before"; no key makes such a signature.
  const approved: Hex = `0x${claimant.account.address.slice(2).padStart(64, '0')}${'00'.repeat(32)}01`
  expect(canonicalSignature(approved)).toBe(approved)
})

test('a wallet that is not deployed yet claims with a wrapped signature (ERC-6492), and stays undeployed', async () => {
  const { address, wrap } = await wallet({ deployed: false })
  const body = await eip191Claim(stage, claimant, { address })
  expect(await failure(await post(stage.api, body))).toMatchObject({ error: 'ERR_SIG_INVALID' })
  const forged = await eip191Claim(stage, claimant, { address, signer: stranger })
  const refused = await post(stage.api, { ...forged, signature: wrap(forged.signature) })
  expect(await failure(refused)).toMatchObject({ status: 400, error: 'ERR_SIG_INVALID' })
  expect((await post(stage.api, { ...body, signature: wrap(body.signature) })).status).toBe(200)
  expect(await stage.chain.client.getCode({ address })).toBeUndefined()
})

test('a wrapped signature still counts once the wallet is deployed', async () => {
  const { address, wrap } = await wallet({ deployed: true })
  const body = await eip191Claim(stage, claimant, { address })
  expect((await post(stage.api, { ...body, signature: wrap(body.signature) })).status).toBe(200)
})

test('a wrapper around a plain key’s own signature, or around nonsense, is no signature', async () => {
  const { wrap } = await wallet({ deployed: false })
  const body = await eip191Claim(stage, claimant)
  for (const signature of [wrap(body.signature), `0x${'6492'.repeat(16)}`, wrap('0x00')]) {
    const refused = await failure(await post(stage.api, { ...body, signature }))
    expect(refused).toMatchObject({ status: 400, error: 'ERR_SIG_INVALID' })
  }
})

test.for<[string, Hex]>([
  ['reverts', '0x60006000fd'],
  ['burns all gas', '0x5b600056'],
  ['meets an invalid instruction', '0xfe'],
  ['answers nothing', '0x00'],
  ['answers four bytes', '0x631626ba7e60e01b60005260046000f3'],
  ['says no', '0x63ffffffff60e01b60005260206000f3'],
])('a contract that %s has not signed', async ([text, bytecode]) => {
  const address = await codeAt(`contract that ${text}`, bytecode)
  const refused = await failure(await post(stage.api, await eip191Claim(stage, claimant, { address })))
  expect(refused).toMatchObject({ status: 400, error: 'ERR_SIG_INVALID' })
})

test('a key counts by its own signature alone, whatever code its account borrows (EIP-7702) or has', async () => {
  const delegate = await codeAt('delegate that says yes', yes)
  for (const [text, bytecode] of [
    ['delegated account', concatHex(['0xef0100', delegate])],
    ['account with code', yes],
  ] as const) {
    const owner = accountOf(text)
    await stage.chain.client.setCode({ address: owner.address, bytecode })
    stage.hub.state.addVerification(claimant.fid, owner.address, { privateKey: keccak256(toBytes(text)) })
    const own = await eip191Claim(stage, claimant, { address: owner.address, signer: owner })
    expect((await post(stage.api, own)).status).toBe(200)
    const borrowed = await eip191Claim(stage, claimant, { address: owner.address, signer: stranger })
    expect(await failure(await post(stage.api, borrowed))).toMatchObject({ status: 400, error: 'ERR_SIG_INVALID' })
  }
})

test('a key signs for whichever chain the text names; none is asked', async () => {
  const body = await eip191Claim(stage, claimant, { chainId: 100 })
  expect((await post(stage.api, body)).status).toBe(200)
})

test('the same address on another chain may be somebody else’s: only the chain of the verification is asked', async () => {
  const ethereum = await startDevChain('ethereum')
  try {
    const api = await stage.another({ rpcs: { ethereum: ethereum.rpc } })
    const { address } = accountOf('wallet that a stranger has on Ethereum')
    const { privateKey } = claimant
    await ethereum.client.setCode({ address, bytecode: yes })
    stage.hub.state.addVerification(claimant.fid, address, { contractChain: 10, privateKey })
    const elsewhere = await eip191Claim(stage, claimant, { address, chainId: 1, signer: stranger })
    const fields = [{ path: 'chain_id', problem: expect.stringContaining('must be 10') }]
    const wrong = { status: 400, error: 'ERR_PAYLOAD_INVALID', fields }
    expect(await failure(await post(api, elsewhere))).toMatchObject(wrong)
    const athome = await eip191Claim(stage, claimant, { address, signer: stranger })
    expect(await failure(await post(api, athome))).toMatchObject({ status: 400, error: 'ERR_SIG_INVALID' })
    // Verified on Ethereum, the wallet there decides, and Optimism has no say.
    stage.hub.state.addVerification(claimant.fid, address, { contractChain: 1, privateKey })
    expect((await post(api, elsewhere)).status).toBe(200)
    expect(await failure(await post(api, { ...athome, nonce: freshNonce() }))).toMatchObject({
      status: 400,
      error: 'ERR_PAYLOAD_INVALID',
      fields: [{ path: 'chain_id', problem: expect.stringContaining('must be 1,') }],
    })
  } finally {
    await ethereum.stop()
  }
})

test('the first owner of a wallet, for whom it still answers where it does not stand yet, claims nothing with it', async () => {
  const ethereum = await startDevChain('ethereum')
  try {
    const api = await stage.another({ rpcs: { ethereum: ethereum.rpc } })
    const { address, wrap } = await wallet({ deployed: true })
    // The wallet changed hands: it has the code of a wallet of the buyer's.
    const buyer = accountOf('buyer of a wallet')
    const salt = padHex('0xb0')
    await stage.chain.execute(funder, createWallet(stage.chain, buyer.address, salt))
    const bytecode = await stage.chain.client.getCode({ address: await walletOf(stage.chain, buyer.address, salt) })
    await stage.chain.client.setCode({ address, bytecode: bytecode! })
    const { fid, account } = claimant
    const digest = verificationDigest({ fid, address, blockHash: blockHashOf(address.toLowerCase()) }, 10)
    const walletSignature = await buyer.sign!({ hash: digest })
    stage.hub.state.addVerification(fid, address, { contractChain: 10, walletSignature })

    const anything = keccak256(toBytes('anything'))
    const signature = wrap(await account.sign!({ hash: anything }))
    expect(await ethereum.client.verifyHash({ address, hash: anything, signature })).toBe(true)
    const elsewhere = await eip191Claim(stage, claimant, { address, chainId: 1 })
    const refused = await failure(await post(api, { ...elsewhere, signature: wrap(elsewhere.signature) }))
    expect(refused).toMatchObject({ status: 400, error: 'ERR_PAYLOAD_INVALID', fields: [{ path: 'chain_id' }] })
    for (const form of [wrap, (plain: Hex) => plain]) {
      const athome = await eip191Claim(stage, claimant, { address })
      const answer = await post(api, { ...athome, signature: form(athome.signature) })
      expect(await failure(answer)).toMatchObject({ status: 400, error: 'ERR_SIG_INVALID' })
    }
    expect((await post(api, await eip191Claim(stage, claimant, { address, signer: buyer }))).status).toBe(200)
  } finally {
    await ethereum.stop()
  }
})

test.for<[string, number]>([
  ['without an RPC address', 1],
  ['that is down', 8453],
])('a wallet on a chain %s is an outage, never a bad signature', async ([, contractChain]) => {
  const api = await stage.another({ rpcs: { base: `http://127.0.0.1:${await freePort()}` } })
  const { address } = accountOf(`wallet on chain ${contractChain}`)
  stage.hub.state.addVerification(claimant.fid, address, { contractChain, privateKey: claimant.privateKey })
  const body = await eip191Claim(stage, claimant, { address, chainId: contractChain, signer: stranger })
  expect(await failure(await post(api, body))).toEqual({ status: 500, error: 'ERR_INTERNAL' })
})

test.for([{ type: 1, chainId: 420 }, { type: 1, chainId: 0 }, { type: 2, chainId: 10 }, { type: 7 }])(
  'ERR_ADDRESS_NOT_VERIFIED: a verification that nobody can be asked about: %j',
  async (change) => {
    const { fid, account, privateKey } = await stage.claimant()
    const { verifications } = stage.hub.state.accounts.get(fid)!
    const [key, message] = [...verifications][0]!
    const body = message.data.verificationAddAddressBody as object
    const data = { ...message.data, verificationAddAddressBody: { ...body, ...change } }
    verifications.set(key, { ...message, data } as never)
    for (const verificationProof of ['signed', 'stated'] as const) {
      const api = await stage.another({ verificationProof })
      for (const chainId of [10, 1]) {
        const claim = await eip191Claim(stage, { ...claimant, fid, account, privateKey }, { chainId })
        const refused = await failure(await post(api, claim))
        expect(refused).toMatchObject({ status: 422, error: 'ERR_ADDRESS_NOT_VERIFIED' })
      }
    }
    const { name: host } = stage.host
    const manifest = { service: 'agent-directory', host, fid, addresses: [account.address] }
    stage.host.pages.set('/.well-known/agent-directory.json', { body: manifest })
    const byHost = await post(stage.api, { method: 'well-known', fid, host, nonce: freshNonce() })
    expect(await failure(byHost)).toMatchObject({ status: 422, error: 'ERR_MANIFEST_ADDRESS_UNVERIFIED' })
  },
)

test('a verification of the oldest form, which names no type, is of a key', async () => {
  const { fid, account, privateKey } = await stage.claimant()
  stage.hub.state.addVerification(fid, account.address, { oldBody: true, privateKey })
  expect((await post(stage.api, await eip191Claim(stage, { ...claimant, fid, account }))).status).toBe(200)
})

test('the address may be written in lower case or with its checksum', async () => {
  for (const address of [claimant.address, getAddress(claimant.address)]) {
    // The signed text has the checksummed address either way.
    const body = { ...(await eip191Claim(stage, claimant)), address }
    expect((await post(stage.api, body)).status).toBe(200)
  }
})
