import { createHash, createPrivateKey, sign } from 'node:crypto'
import { bytesToHex, type Hex } from 'viem'
import { HubState } from '../../devnet/hub/state.ts'
import { blockHashOf, verificationDigest } from '../../devnet/hub/verifications.ts'
import { appKeyOf, walletOf } from '../../devnet/world/keys.ts'
import { sealClaimEvent } from '../../trust/claim-event.ts'
import { type ClaimAction, claimMessage } from '../../trust/claim-text.ts'
import { readHubMessage } from '../../trust/hub-message.ts'
import {
  type AddressProof,
  type ClaimProof,
  type KeyPlace,
  type Statement,
  sealProof,
} from '../../trust/proof/proof.ts'
import { statementDigest } from '../../trust/proof/statements.ts'
import { claimDigest } from '../../trust/verification-claim.ts'
import { keyAddMessage, keyRemoveMessage } from './key-adds.ts'

export const fid = 7
export const wallet = walletOf('proof', 'wallet')
const appKey = appKeyOf('proof', 'app')
const terms = { serviceName: 'agent-directory', siteUrl: 'https://site.example', baseUrl: 'https://api.example' }
const at = '2026-11-20T04:00:00.000Z'
const registry = '0x00000000fc1237824fb747abde0ff18990e59b7e'

/** The proof with its checksum computed again, as a service that lies would. */
export const resealed = ({ sha256: _, ...rest }: ClaimProof) => sealProof(rest)

/** An account whose keys sign a proof at a time. */
export interface Person {
  readonly fid: number
  readonly wallet: ReturnType<typeof walletOf>
  readonly appKey: ReturnType<typeof appKeyOf>
  readonly at: string
  readonly host: string
  readonly link: Extract<Statement, { kind: 'well-known' }>['host_link']
  /** Contract wallet that `wallet` owns, and what it answered; absent: `wallet` itself is verified. */
  readonly contract?: Pick<AddressProof, 'address' | 'wallet'>
}

const addressOf = ({ wallet, contract }: Person) => contract?.address ?? wallet.address

const person: Person = {
  fid,
  wallet,
  appKey,
  at,
  host: 'agent.example',
  link: { kind: 'profile_url', evidence: { url: 'https://agent.example/' } },
}

interface Word {
  readonly action: ClaimAction
  readonly nonce: string
}
const claiming: Word = { action: 'claim', nonce: 'nonce12345' }
const withdrawing: Word = { action: 'withdraw', nonce: 'nonce67890' }

/** What each method signs or publishes, by the keys of one FID. */
const statements: Record<Statement['kind'], (of: Person, word?: Word) => Promise<Statement>> = {
  async eip191(of, { action, nonce } = claiming) {
    const fields = { fid: of.fid, address: addressOf(of) as Hex, chainId: 10, nonce, timestamp: of.at }
    const text = claimMessage(terms, fields, action)
    const signature = await of.wallet.account.signMessage({ message: text })
    const { address, chainId: chain_id, timestamp } = fields
    return { kind: 'eip191', text, address, chain_id, nonce, timestamp, signature }
  },
  async jfs({ fid, appKey, at }, { action, nonce } = claiming) {
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const header = encode({ fid, type: 'app_key', key: appKey.publicKey })
    const payload = encode({ aud: terms.baseUrl, action, fid, nonce, timestamp: at })
    const secret = Buffer.from(appKey.privateKey.slice(2), 'hex')
    const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), secret])
    const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
    return {
      kind: 'jfs',
      header,
      payload,
      signature: sign(null, Buffer.from(`${header}.${payload}`), key).toString('base64url'),
    }
  },
  async 'well-known'(of) {
    const { fid, at, host, link } = of
    const url = `https://${host}/.well-known/agent-directory.json`
    const body = JSON.stringify({ service: terms.serviceName, host, fid, addresses: [addressOf(of)] })
    const sha256 = createHash('sha256').update(body).digest('hex')
    return { kind: 'well-known', url, body, sha256, fetched_at: at, host_link: link }
  },
}

const place = { remove: null, key_remove: null }

async function keyOnChain(): Promise<KeyPlace> {
  const log = {
    chain_id: 10,
    contract: registry,
    block_number: 12,
    block_hash: `0x${'12'.repeat(32)}`,
    tx_hash: `0x${'34'.repeat(32)}`,
    log_index: 3,
  }
  const common = { key: appKey.publicKey, source: 'chain', state: 1, request_fid: 9_152, key_add: null } as const
  return { ...common, ...place, add: log }
}

/** Where the app key comes from: a message that the custody address signed. */
export async function keyOffChain(): Promise<KeyPlace> {
  const message = readHubMessage(await keyAddMessage({ fid, appKey }, wallet.account, new Date(at)))
  if (message?.data.body.kind !== 'key_add') throw new Error('no key')
  const { body, timestamp } = message.data
  const common = { key: appKey.publicKey, source: 'offchain', state: null, request_fid: null, add: null } as const
  return {
    ...common,
    ...place,
    key_add: {
      message: {
        data_bytes: bytesToHex(message.dataBytes),
        hash: bytesToHex(message.hash),
        signature: bytesToHex(message.signature),
        signer: bytesToHex(message.signer),
      },
      timestamp,
      key_type: body.keyType,
      scopes: body.scopes,
      ttl: body.ttl,
      nonce: body.nonce,
      deadline: body.deadline,
      metadata: bytesToHex(body.metadata),
      metadata_type: body.metadataType,
      custody_signature: bytesToHex(body.custodySignature),
      signed_by: wallet.address,
    },
  }
}

/** The app key, removed so many seconds after it was added: by the custody address, or by itself. */
export async function removedKey(by: 'custody' | 'key', seconds: number): Promise<KeyPlace> {
  const signer = by === 'custody' ? wallet.account : undefined
  const message = readHubMessage(
    await keyRemoveMessage({ fid, appKey }, signer, new Date(Date.parse(at) + seconds * 1_000)),
  )
  if (message?.data.body.kind !== 'key_remove') throw new Error('no removal')
  const { body, timestamp } = message.data
  return {
    ...(await keyOffChain()),
    key_remove: {
      message: {
        data_bytes: bytesToHex(message.dataBytes),
        hash: bytesToHex(message.hash),
        signature: bytesToHex(message.signature),
        signer: bytesToHex(message.signer),
      },
      timestamp,
      signature: bytesToHex(body.signature),
      signature_type: body.signatureType,
      nonce: body.nonce,
      deadline: body.deadline,
      signed_by: signer ? wallet.address : null,
    },
  }
}

/** Has a hub know the account and its verification, and gives the message that makes it. */
export async function verifiedAt(hub: HubState, of: Person): Promise<object> {
  const { fid, wallet, appKey, at } = of
  const address = addressOf(of)
  if (!hub.accounts.has(fid)) hub.addAccount({ fid, custody: wallet.address, appKey })
  if (!of.contract) return hub.addVerification(fid, address, { privateKey: wallet.privateKey, at: new Date(at) })
  const contractChain = 10
  const hash = verificationDigest({ fid, address, blockHash: blockHashOf(address) }, contractChain)
  const walletSignature = await wallet.account.sign!({ hash })
  return hub.addVerification(fid, address, { contractChain, walletSignature, at: new Date(at) })
}

/**
 * The proof of a claim that its owner has withdrawn a minute later, by the method of the claim. `signed`: when, in
 * seconds after the claim.
 */
export async function withdrawn(claimed: ClaimProof, of = person, signed = 60): Promise<ClaimProof> {
  const after = (seconds: number) => new Date(Date.parse(of.at) + seconds * 1_000).toISOString()
  const at = after(60)
  const { fid, method, nonce } = claimed
  const statement = await statements[method as Statement['kind']]({ ...of, at: after(signed) }, withdrawing)
  const proof_sha256 = statementDigest({ fid, nonce: withdrawing.nonce }, statement, 'withdraw')
  const signer = method === 'jfs' ? of.appKey.publicKey : addressOf(of)
  const evidence = { reason: 'withdrawn', method, nonce: withdrawing.nonce, signer, proof_sha256 }
  const previous = claimed.history.at(-1)!.sha256
  const end = sealClaimEvent({ seq: 2, fid, method, nonce, kind: 'ended', at, evidence, previous })
  const ended = { at, reason: 'withdrawn', evidence, statement }
  return resealed({ ...claimed, state: 'ended', checked_at: at, ended, history: [...claimed.history, end] })
}

/** The proof of a claim that holds, by the given method. */
export async function proofOf(
  method: Statement['kind'],
  key: () => Promise<KeyPlace> = keyOnChain,
  of: Person = person,
): Promise<ClaimProof> {
  const { fid, at } = of
  const statement = await statements[method](of)
  const message = readHubMessage(await verifiedAt(new HubState(), of))
  if (message?.data.body.kind !== 'verification_add') throw new Error('no verification')
  const { dataBytes, hash, signature, signer, data } = message
  const add = message.data.body
  const claimed = sealClaimEvent({
    seq: 1,
    fid,
    method,
    nonce: 'nonce12345',
    kind: 'claimed',
    at,
    evidence: { proof_sha256: statementDigest({ fid, nonce: 'nonce12345' }, statement) },
    previous: null,
  })
  return sealProof({
    schema: 'claim-proof/1',
    service: terms.serviceName,
    base_url: terms.baseUrl,
    site_url: terms.siteUrl,
    fid,
    method,
    nonce: 'nonce12345',
    state: 'live',
    claimed_at: at,
    checked_at: at,
    ended: null,
    statement,
    address_proofs: [
      {
        address: addressOf(of),
        verdict: 'proven',
        message: {
          data_bytes: bytesToHex(dataBytes),
          hash: bytesToHex(hash),
          signature: bytesToHex(signature),
          signer: bytesToHex(signer),
        },
        verification: {
          type: add.verificationType,
          chain_id: add.chainId,
          block_hash: bytesToHex(add.blockHash),
          claim_signature: bytesToHex(add.claimSignature),
          digest: claimDigest(data.fid, add, 1),
        },
        first_seen_at: at,
        before_custody: false,
        wallet: of.contract?.wallet ?? null,
      },
    ],
    keys: [await key()],
    custody: null,
    sources: [
      {
        operator: 'hub.example',
        witness: false,
        asked_at: at,
        standing: 'believed',
        has: [bytesToHex(hash)],
        lacks: [],
      },
    ],
    history: [claimed],
    log: null,
  })
}
