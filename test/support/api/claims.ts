import { createHash } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { encodeFunctionData, type Hex, keccak256, type LocalAccount, numberToHex, padHex, toBytes, toHex } from 'viem'
import type { ApiDeps } from '../../../api/app.ts'
import { type AttemptCounter, createMemoryCounter } from '../../../api/claim/attempts.ts'
import { askAgain, deriveClaimed } from '../../../api/claim/derive-claimed.ts'
import { createWitnesses } from '../../../api/claim/witness-clients.ts'
import { readChains } from '../../../config/chains.file.ts'
import type { ChainName } from '../../../config/chains.ts'
import { knownOfNetwork } from '../../../db/queries/sources/hub-standing.ts'
import { inSafeTransaction } from '../../../db/safe-transaction.ts'
import { keyRegistryAbi } from '../../../devnet/chain/abi.ts'
import { accountOf, type DevChain, funder, startDevChain } from '../../../devnet/chain/chain.ts'
import { addAppKey, recoverFid, registerFid, transferFid } from '../../../devnet/chain/farcaster.ts'
import { startWebHost, type WebHost } from '../../../devnet/hosts/web-host.ts'
import { type Hub, startHub } from '../../../devnet/hub/server.ts'
import { HubState } from '../../../devnet/hub/state.ts'
import { parseEgressAllow } from '../../../net/egress.ts'
import type { Lookup } from '../../../net/resolver.ts'
import { freePort } from '../../../ops/ports.ts'
import { createTestDatabase, type TestDatabase } from '../database.ts'
import { insert } from '../seed.ts'
import { startApi, type TestApi } from './api.ts'

export const baseUrl = 'https://api.agents.example'
export const siteUrl = 'https://agents.example'
const serviceName = 'agent-directory'

/** A FID with the keys that prove control of it. */
export interface Claimant {
  readonly fid: number
  readonly custody: LocalAccount
  /** Account of the fid's verified address. */
  readonly account: LocalAccount
  readonly privateKey: Hex
  readonly address: Hex
  readonly appKey: { readonly publicKey: Hex; readonly secret: Uint8Array }
}

/** An API that takes claims, with everything it asks: Postgres, an Optimism, a hub, a claimant's web host. */
export interface ClaimStage {
  readonly database: TestDatabase
  readonly chain: DevChain
  readonly hub: Hub
  readonly host: WebHost
  readonly clock: { now: number }
  readonly api: TestApi
  /** Starts another API over the same world, as if in another process; it shares only what `overrides` shares. */
  another(overrides?: StageOverrides): Promise<TestApi>
  /** A new account with one verified address, an app key and a custody address on chain. */
  claimant(): Promise<Claimant>
  stop(): Promise<void>
}

interface StageOverrides {
  readonly rpc?: string | null
  /** RPC URLs of chains other than Optimism; chains left out have none. */
  readonly rpcs?: Partial<Record<ChainName, string>>
  readonly hubUrl?: string
  /** URLs of the hubs that serve as witnesses. */
  readonly otherHubs?: readonly string[]
  readonly attempts?: AttemptCounter
  /** Answers for the names of hosts. */
  readonly lookup?: Lookup
  readonly hostLinkRequired?: boolean
  readonly claimsLapse?: boolean
  readonly verificationProof?: 'signed' | 'stated'
  readonly database?: TestDatabase
  readonly log?: ApiDeps['log']
  readonly answerKeys?: ApiDeps['answerKeys']
  readonly webhookSecret?: string
}

interface StageOptions {
  readonly ownAddress?: boolean
  readonly on?: Pick<ClaimStage, 'chain' | 'database'>
}

/**
 * With `ownAddress` the API's base URL is its real address. `on`: a running Optimism and the database it is indexed
 * into; else the stage starts a chain that is not indexed. Starts at the real time; `clock.now` moves it.
 * Client addresses come from X-Forwarded-For.
 */
export async function startClaimStage({ ownAddress = false, on }: StageOptions = {}): Promise<ClaimStage> {
  const own = on ? undefined : await createTestDatabase()
  const database = (on?.database ?? own) as TestDatabase
  const chain = on?.chain ?? (await startDevChain('optimism'))
  const clock = { now: Date.now() }
  const hub = await startHub(new HubState(() => new Date(clock.now)))
  const host = await startWebHost()
  const running: { stop(): Promise<void> }[] = []
  let lastFid = 100

  async function another(overrides: StageOverrides = {}): Promise<TestApi> {
    const {
      rpc = chain.rpc,
      rpcs = {},
      hubUrl = hub.url,
      hostLinkRequired = true,
      claimsLapse = true,
      verificationProof = 'signed',
    } = overrides
    const { attempts = createMemoryCounter(() => clock.now) } = overrides
    const egressAllow = parseEgressAllow(host.name)
    const env = Object.fromEntries(Object.entries(rpcs).map(([name, url]) => [`RPC_${name.toUpperCase()}`, url]))
    const chains = readChains({ env })
    const witnesses = createWitnesses({
      chains: { ...chains, optimism: { ...chains.optimism, rpc } },
      hub: { url: hubUrl, headers: {} },
      otherHubs: (overrides.otherHubs ?? []).map((url) => ({ url, headers: {} })),
      egressAllow,
      serviceName,
      siteUrl,
      known: () => knownOfNetwork((overrides.database ?? database).pool),
      now: () => clock.now,
      lookup: overrides.lookup,
    })
    const { pool } = overrides.database ?? database
    const claims: ApiDeps['claims'] = {
      ...witnesses,
      egressAllow,
      attempts,
      windowSeconds: 900,
      hostLinkRequired,
      claimsLapse,
      verificationProof,
      webhookSecret: overrides.webhookSecret,
      transaction: (work) => inSafeTransaction(pool, work),
      askAgain: (fid) => askAgain({ pool, fid, now: () => new Date(clock.now) }),
      derive: (fid) => deriveClaimed({ pool, fid, settlementOverloads: 'spec', now: () => new Date(clock.now) }),
    }
    const port = ownAddress ? await freePort() : undefined
    const address = port && { baseUrl: `http://127.0.0.1:${port}` }
    const { log, answerKeys } = overrides
    const api = await startApi(
      overrides.database ?? database,
      { trustProxyHops: 1, now: () => clock.now, claims, answerKeys, ...address, ...(log && { log }) },
      port,
    )
    running.push({ stop: () => witnesses.close() }, api)
    return api
  }

  return {
    database,
    chain,
    hub,
    host,
    clock,
    another,
    api: await another(),
    claimant() {
      lastFid += 1
      return newClaimant(lastFid, hub, chain)
    },
    async stop() {
      for (const part of running.reverse()) await part.stop()
      await Promise.all([hub.stop(), host.stop()])
      if (on) return
      await chain.stop()
      await own?.drop()
    },
  }
}

/** Registers an account at the hub and on chain. */
export async function newClaimant(fid: number, hub: Hub, chain: DevChain): Promise<Claimant> {
  const custody = accountOf(`custody ${fid}`)
  const account = accountOf(`verified ${fid}`)
  const appKey = appKeyOf(`app key ${fid}`)
  const privateKey = keccak256(toBytes(`verified ${fid}`))
  const signer = { publicKey: appKey.publicKey, privateKey: toHex(appKey.secret) }
  hub.state.addAccount({ fid, custody: custody.address, appKey: signer })
  hub.state.addVerification(fid, account.address, { privateKey })
  await chain.execute(funder, registerFid(BigInt(fid), custody.address))
  await chain.execute(funder, addAppKey(BigInt(fid), appKey.publicKey))
  return { fid, custody, account, privateKey, address: account.address.toLowerCase() as Hex, appKey }
}

export function appKeyOf(text: string): Claimant['appKey'] {
  const secret = createHash('sha256').update(text).digest()
  return { publicKey: `0x${Buffer.from(ed25519.getPublicKey(secret)).toString('hex')}`, secret }
}

let nonces = 0
/** A nonce that was not used before. */
export const freshNonce = () => `nonce${numberToHex(++nonces, { size: 8 }).slice(2)}`

let clients = 0
/** A client address that was not used before, so that only tests of the limiter reach a limit. */
export const freshClient = () => `2001:db8:${(++clients).toString(16)}::1`

interface PostOptions {
  readonly client?: string
  readonly query?: string
  readonly headers?: Record<string, string>
}

/** Posts a claim; a string is sent as it is. */
export function post(
  api: Pick<TestApi, 'get'>,
  body: unknown,
  { client = freshClient(), query = '', headers }: PostOptions = {},
) {
  return api.get(`/api/claim${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': client, ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
  })
}

interface EipOptions {
  readonly fid?: number
  readonly nonce?: string
  readonly timestamp?: string
  readonly address?: string
  readonly chainId?: number
  readonly signer?: LocalAccount
  readonly action?: 'claim' | 'withdraw' | 'unlist' | 'relist' | 'webhook'
  /** Of a webhook. */
  readonly url?: string
}

/** First lines of the signed text, written independently of the server's code. */
const statements = {
  claim: (fid: number) => `Claim FID ${fid} on agent-directory.`,
  withdraw: (fid: number) => `Withdraw the claim of FID ${fid} on agent-directory.`,
  unlist: (fid: number) => `Unlist FID ${fid} on agent-directory.`,
  relist: (fid: number) => `List FID ${fid} on agent-directory again.`,
  webhook: (fid: number, url: string) => `Send events to ${url} for FID ${fid} on agent-directory.`,
}

/** A signed eip191 claim, withdrawal or other deed of that form, written independently of the server's code. */
export async function eip191Claim(stage: Pick<ClaimStage, 'clock'>, claimant: Claimant, options: EipOptions = {}) {
  const { fid = claimant.fid, nonce = freshNonce(), timestamp = new Date(stage.clock.now).toISOString() } = options
  const { address = claimant.account.address, chainId = 10, signer = claimant.account, action = 'claim' } = options
  const { url = '' } = options
  const path = action === 'webhook' ? '/api/webhooks' : `/api/claim${action === 'claim' ? '' : `/${action}`}`
  const message = `agents.example wants you to sign in with your Ethereum account:
${address}

${statements[action](fid, url)}

URI: https://api.agents.example${path}
Version: 1
Chain ID: ${chainId}
Nonce: ${nonce}
Issued At: ${timestamp}
Resources:
- farcaster://fid/${fid}`
  const signature = await signer.signMessage({ message })
  const chain = chainId === 10 ? {} : { chain_id: chainId }
  return { method: 'eip191', fid: claimant.fid, address, nonce, timestamp, ...chain, signature }
}

const segment = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** A JFS token signed with an app key over any header and payload; a string is taken unchanged. */
export function tokenOf(secret: Uint8Array, header: unknown, payload: unknown): string {
  const signed = `${segment(header)}.${segment(payload)}`
  return `${signed}.${Buffer.from(ed25519.sign(Buffer.from(signed), secret)).toString('base64url')}`
}

/** A signed jfs claim; `header` and `payload` replace fields. */
export function jfsClaim(
  stage: Pick<ClaimStage, 'clock'>,
  { fid, appKey }: Claimant,
  { header = {}, payload = {} }: { header?: object; payload?: object } = {},
) {
  const head = { fid, type: 'app_key', key: appKey.publicKey, ...header }
  const timestamp = new Date(stage.clock.now).toISOString()
  const said = { aud: baseUrl, action: 'claim', fid, nonce: freshNonce(), timestamp, ...payload }
  return { method: 'jfs', fid, jfs: tokenOf(appKey.secret, head, said) }
}

/** Transfers or recovers a FID to `buyerOf` it, on the chain now, and stores what the processor would. */
export async function transferAccount(
  { chain, database }: ClaimStage,
  fid: number,
  kind: 't' | 'r' = 't',
): Promise<void> {
  const change = kind === 't' ? transferFid : recoverFid
  const receipt = await chain.execute(funder, change(BigInt(fid), buyerOf(fid).address))
  const { timestamp } = await chain.client.getBlock({ blockNumber: receipt.blockNumber })
  await insert(database.pool, 'fid_custody', {
    id: `optimism-${receipt.blockNumber}-0`,
    chain: 'optimism',
    fid,
    kind,
    from: Buffer.alloc(20, 1),
    to: Buffer.alloc(20, 2),
    block_number: Number(receipt.blockNumber),
    log_index: 0,
    block_timestamp: new Date(Number(timestamp + 1n) * 1000),
    tx_hash: Buffer.alloc(32),
  })
}

/** Custody account of a FID after `transferAccount`. */
export const buyerOf = (fid: number) => accountOf(`buyer of ${fid}`)

/** Adds an address for signing in to a FID, in the registry on the chain. */
export async function addAuthAddress({ chain }: ClaimStage, fid: number, address: Hex): Promise<void> {
  const args = [BigInt(fid), 2, padHex(address), 1, '0x'] as const
  const data = encodeFunctionData({ abi: keyRegistryAbi, functionName: 'addKey', args })
  await chain.execute(funder, { to: chain.addresses.keyRegistry as Hex, data })
}

/** A JSON Farcaster Signature that an address of an account makes, not an app key; its signature is not encoded yet. */
async function signedByAccount(signer: LocalAccount, type: 'custody' | 'auth', fid: number, said: object) {
  const segment = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const header = segment({ fid, type, key: signer.address })
  const payload = segment(said)
  return { header, payload, signature: await signer.signMessage({ message: `${header}.${payload}` }) }
}

/** An account association; `legacy`: its signature is encoded as older tools do. */
export async function associationOf(
  signer: LocalAccount,
  type: 'custody' | 'auth',
  { fid, domain, legacy = false }: { fid: number; domain: string; legacy?: boolean },
) {
  const { signature, ...parts } = await signedByAccount(signer, type, fid, { domain })
  const bytes = legacy ? Buffer.from(signature) : Buffer.from(signature.slice(2), 'hex')
  return { ...parts, signature: bytes.toString(legacy ? 'base64url' : 'base64') }
}

/** A JSON Farcaster Signature of an account for a withdrawal. */
export async function withdrawalOf(signer: LocalAccount, type: 'custody' | 'auth', fid: number, now: number) {
  const timestamp = new Date(now).toISOString()
  const said = { aud: baseUrl, action: 'withdraw', fid, nonce: freshNonce(), timestamp }
  const { header, payload, signature } = await signedByAccount(signer, type, fid, said)
  return {
    method: 'jfs',
    fid,
    jfs: `${header}.${payload}.${Buffer.from(signature.slice(2), 'hex').toString('base64url')}`,
  }
}
