import { type Address, bytesToHex, encodeAbiParameters, type Hex, numberToHex, sha256 } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { socialChain } from '../../config/chains.ts'
import { type DevChain, funder, startDevChain } from '../../devnet/chain/chain.ts'
import { addAppKey, registerFid, transferFid } from '../../devnet/chain/farcaster.ts'
import { register } from '../../devnet/chain/identity.ts'
import { walletOf as contractOf, createWallet } from '../../devnet/chain/wallets.ts'
import { startWebHost, type WebHost } from '../../devnet/hosts/web-host.ts'
import { type Hub, startHub } from '../../devnet/hub/server.ts'
import { HubState } from '../../devnet/hub/state.ts'
import { appKeyOf, walletOf } from '../../devnet/world/keys.ts'
import { readHubMessage } from '../../trust/hub-message.ts'
import { registries } from '../../trust/proof/ask.ts'
import { checkOffline } from '../../trust/proof/checks.ts'
import type { ClaimProof, KeyPlace, Statement } from '../../trust/proof/proof.ts'
import { exitCodeOf, verify } from '../../trust/proof/verify.ts'
import { type Person, proofOf, resealed, verifiedAt, withdrawn } from './proof.ts'

// Proofs of two accounts that hold, on a chain and at a hub that have both; then every part of one dropped, made null or
// taken from the other: by a service that lies, which computes the checksum again.

const methods: Statement['kind'][] = ['eip191', 'jfs', 'well-known']
let chain: DevChain
let hub: Hub
let host: WebHost
beforeAll(async () => {
  chain = await startDevChain(socialChain().name)
  hub = await startHub(new HubState(() => new Date()))
  host = await startWebHost()
})
afterAll(() => Promise.all([chain.stop(), hub.stop(), host.stop()]))

interface Standing {
  readonly person: Person
  readonly key: KeyPlace
  readonly custody: NonNullable<ClaimProof['custody']>
}

/** An account that was sold to its owner, or always was theirs, who then added an app key and verified an address. */
async function settled(fid: number, isSold = true): Promise<Standing> {
  const wallet = walletOf('mutation', `${fid}`)
  const seller = walletOf('mutation seller', `${fid}`)
  const appKey = appKeyOf('mutation', `${fid}`)
  await chain.execute(funder, registerFid(BigInt(fid), (isSold ? seller : wallet).address as Address))
  const sold = isSold ? await chain.execute(funder, transferFid(BigInt(fid), wallet.address as Address)) : undefined
  const added = await chain.execute(funder, addAppKey(BigInt(fid), appKey.publicKey as Hex, requestBy(fid + 1_000)))
  const { timestamp } = await chain.client.getBlock({ blockNumber: added.blockNumber })
  const at = new Date((Number(timestamp) + 60 * fid) * 1_000).toISOString()
  const place = { chain_id: chain.chainId, contract: registries.key, remove: null, key_remove: null }
  const log = (contract: string, { logs }: typeof added) => logs.find(({ address }) => address === contract)!.logIndex
  return {
    person: {
      fid,
      wallet,
      appKey,
      at,
      host: `host-${fid}.example`,
      link: { kind: 'farcaster_manifest', evidence: await association(fid, wallet, `host-${fid}.example`) },
    },
    key: {
      key: appKey.publicKey,
      source: 'chain',
      state: 1,
      add: {
        chain_id: place.chain_id,
        contract: place.contract,
        block_number: Number(added.blockNumber),
        block_hash: added.blockHash,
        tx_hash: added.transactionHash,
        log_index: log(registries.key, added),
      },
      remove: null,
      request_fid: fid + 1_000,
      key_add: null,
      key_remove: null,
    },
    custody: {
      address: wallet.address,
      chain_id: chain.chainId,
      contract: registries.id,
      since: sold
        ? {
            block_number: Number(sold.blockNumber),
            tx_hash: sold.transactionHash,
            log_index: log(registries.id, sold),
            kind: 'transferred',
          }
        : null,
      read_at: { block_number: Number(added.blockNumber), block_hash: added.blockHash },
    },
  }
}

/** Metadata of a key that an app asked for. Source: farcasterxyz/contracts, SignedKeyRequestValidator. */
function requestBy(requestFid: number): Hex {
  const request = {
    type: 'tuple',
    components: [{ type: 'uint256' }, { type: 'address' }, { type: 'bytes' }, { type: 'uint256' }],
  } as const
  return encodeAbiParameters([request], [[BigInt(requestFid), funder.address, '0x', 0n]])
}

async function association(fid: number, wallet: Person['wallet'], domain: string) {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const header = encode({ fid, type: 'custody', key: wallet.address })
  const payload = encode({ domain })
  const signature = await wallet.account.signMessage({ message: `${header}.${payload}` })
  return { header, payload, signature: Buffer.from(signature.slice(2), 'hex').toString('base64url') }
}

async function proofBy(method: Statement['kind'], { person, key, custody }: Standing): Promise<ClaimProof> {
  if (!hub.state.accounts.get(person.fid)?.verifications.size) await verifiedAt(hub.state, person)
  return resealed({ ...(await proofOf(method, async () => key, person)), custody })
}

const ask = () => ({ rpc: new Map([[chain.chainId, chain.rpc]]), hubs: [hub.url], host: `http://${host.name}` })

/** Exit code of the command; nobody is asked about what is known to be false. */
async function codeOf(proof: ClaimProof): Promise<number> {
  const offline = exitCodeOf(await checkOffline(proof))
  return offline === 1 ? 1 : exitCodeOf(await verify(proof, ask()))
}

type Path = readonly (string | number)[]

/** Paths of all parts of a value. */
function partsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  const keys = Array.isArray(value) ? value.map((_, index) => index) : Object.keys(value)
  const own = path.length === 0 ? [] : [path]
  return [...own, ...keys.flatMap((key) => partsOf((value as Record<string, unknown>)[key], [...path, key]))]
}

const at = (value: unknown, path: Path) =>
  path.reduce<unknown>((part, key) => (part as Record<string, unknown> | null | undefined)?.[key], value)

/** A copy with one part changed; `undefined` drops it. */
function changed(proof: ClaimProof, path: Path, to: unknown): ClaimProof {
  const copy = structuredClone(proof)
  const parent = at(copy, path.slice(0, -1)) as Record<string, unknown>
  const last = path.at(-1)!
  if (to !== undefined) parent[last] = to
  else if (Array.isArray(parent)) parent.splice(Number(last), 1)
  else delete parent[last]
  return copy
}

/** What the service alone says, and on which nothing rests: the checksum binds it to the rest of the proof, no more. */
const ofTheService = ['checked_at', 'address_proofs.0.first_seen_at', 'custody.read_at', 'sources.0.asked_at']

/** The changes of parts of a proof that the command exits with 0 for, when the checksum is computed again. */
async function passing(good: ClaimProof, other: ClaimProof, isMeant: (path: Path) => boolean): Promise<string[]> {
  if (good.statement.kind === 'well-known')
    host.pages.set('/.well-known/agent-directory.json', { body: good.statement.body })
  const lines = await verify(good, ask())
  expect(lines.filter(({ name, outcome }) => outcome !== 'held' || name === '')).toEqual([])
  const passed: string[] = []
  for (const path of partsOf(good)) {
    if (path[0] === 'sha256' || !isMeant(path)) continue
    const variants: [string, unknown][] = [
      ['dropped', undefined],
      ['null', null],
      ['exchanged', structuredClone(at(other, path)) ?? null],
    ]
    for (const [how, to] of variants) {
      if (JSON.stringify(to) === JSON.stringify(at(good, path))) continue
      const lie = changed(good, path, to)
      expect(await codeOf(lie), `${path.join('.')} ${how}, the checksum as it was`).not.toBe(0)
      if ((await codeOf(resealed(lie))) === 0) passed.push(`${path.join('.')} ${how}`)
    }
  }
  return passed
}

test.each(methods)(
  'no part of a proof by %s can be dropped, made null or be another account’s',
  async (method) => {
    const offset = 10 * (methods.indexOf(method) + 1)
    const good = await proofBy(method, await settled(offset + 1))
    const other = await proofBy(method, await settled(offset + 2))
    expect(await passing(good, other, () => true)).toEqual(ofTheService.map((name) => `${name} exchanged`))
  },
  240_000,
)

/** Sets what links the account's host to it, and gives the account with that. */
const linked: Readonly<Record<string, (of: Standing) => Promise<Standing>>> = {
  async profile(of) {
    const { fid, wallet, appKey, at, host } = of.person
    const url = `https://${host}/`
    hub.state.addAccount({ fid, custody: wallet.address, appKey })
    hub.state.setProfile(fid, { url }, new Date(at))
    const json = hub.state.accounts.get(fid)?.userData.get('USER_DATA_TYPE_URL')
    const { data, dataBytes, hash, signature, signer } = readHubMessage(json)!
    const message = {
      data_bytes: bytesToHex(dataBytes),
      hash: bytesToHex(hash),
      signature: bytesToHex(signature),
      signer: bytesToHex(signer),
    }
    const evidence = { url, timestamp: data.timestamp, message }
    return { ...of, person: { ...of.person, link: { kind: 'profile_url', evidence } } }
  },
  async registration(of) {
    const { wallet, host } = of.person
    const url = `https://${host}/card.json`
    await chain.fund([wallet.address as Address])
    const { logs } = await chain.execute(wallet.account, register(url))
    const erc8004_id = BigInt(logs.find(({ topics }) => topics.length === 4)!.topics[3] as Hex).toString()
    const evidence = { chain_id: chain.chainId, erc8004_id, url }
    return { ...of, person: { ...of.person, link: { kind: 'registration', evidence } } }
  },
}

test.each([
  ['profile', 41],
  ['registration', 51],
])(
  'no part of what links a host by the %s can be dropped, made null or be another account’s',
  async (kind, fid) => {
    const good = await settled(fid, false)
    const other = await settled(fid + 1, false)
    const by = async (of: Standing) => proofBy('well-known', await linked[kind]!(of))
    expect(await passing(await by(good), await by(other), ([part]) => part === 'statement')).toEqual([])
  },
  240_000,
)

test.each<['eip191' | 'jfs', number]>([
  ['eip191', 61],
  ['jfs', 71],
])(
  'no part of a withdrawal by %s can be dropped, made null or be another account’s',
  async (method, fid) => {
    const by = async (of: Standing) => withdrawn(await proofBy(method, of), of.person)
    const good = await by(await settled(fid))
    const other = await by(await settled(fid + 1))
    const isMeant = ([part]: Path) => part === 'ended' || part === 'state' || part === 'history' || part === 'statement'
    expect(await passing(good, other, isMeant)).toEqual([])
  },
  240_000,
)

test('no part of what a contract wallet signed and answered can be dropped, made null or be another account’s', async () => {
  const by = async (fid: number) => {
    const standing = await settled(fid)
    const { wallet } = standing.person
    const salt = numberToHex(fid, { size: 32 })
    const address = (await contractOf(chain, wallet.address as Address, salt)).toLowerCase() as Address
    const { blockNumber, blockHash } = await chain.execute(funder, createWallet(chain, wallet.address as Address, salt))
    const code = await chain.client.getCode({ address })
    const answer = {
      chain_id: 10,
      block_number: Number(blockNumber),
      block_hash: blockHash,
      code_sha256: sha256(code as Hex),
      standard: '1271',
      answer: 'held',
    } as const
    return proofBy('eip191', { ...standing, person: { ...standing.person, contract: { address, wallet: answer } } })
  }
  const good = await by(81)
  const other = await by(82)
  const isMeant = ([part, ...rest]: Path) => part === 'statement' || (part === 'address_proofs' && rest.length > 1)
  expect(await passing(good, other, isMeant)).toEqual(['address_proofs.0.first_seen_at exchanged'])
  const lie = structuredClone(good)
  Object.assign(lie.address_proofs[0]!.wallet!, { standard: '6492' })
  expect(await codeOf(resealed(lie))).toBe(1)
}, 240_000)

test('a stranger’s manifest on a host of his own shows nothing without a link, or with one that is not signed', async () => {
  const { person, key, custody } = await settled(91)
  const codes: number[] = []
  for (const link of [
    null,
    { kind: 'profile_url', evidence: null },
    { kind: 'registration', evidence: { chain_id: 8453, erc8004_id: '1', url: `https://${person.host}/` } },
    { kind: 'account_association', evidence: await association(91, walletOf('mutation', 'thief'), person.host) },
    { kind: 'account_association', evidence: await association(92, person.wallet, person.host) },
  ]) {
    const proof = await proofBy('well-known', { person: { ...person, link }, key, custody })
    if (proof.statement.kind === 'well-known')
      host.pages.set('/.well-known/agent-directory.json', { body: proof.statement.body })
    codes.push(await codeOf(proof))
  }
  expect(codes).not.toContain(0)
  expect(codes.at(-1)).toBe(1)
})

test('a key and a message older than the transfer show nothing, whether the proof names the transfer or hides it', async () => {
  const fid = 95
  const wallet = walletOf('mutation', `${fid}`)
  const buyer = walletOf('mutation buyer', `${fid}`)
  const standing = await settled(fid)
  await chain.client.setNextBlockTimestamp({ timestamp: BigInt(Date.parse(standing.person.at) / 1_000 + 60) })
  const sold = await chain.execute(funder, transferFid(BigInt(fid), buyer.address as Address))
  const claimed = new Date(Date.parse(standing.person.at) + 600_000).toISOString()
  const proof = await proofBy('jfs', { ...standing, person: { ...standing.person, wallet } })
  const since = {
    block_number: Number(sold.blockNumber),
    tx_hash: sold.transactionHash,
    log_index: sold.logs.find(({ address }) => address === registries.id)!.logIndex,
    kind: 'transferred',
  }
  const custody = { ...standing.custody, address: buyer.address, since }
  const late = { ...(await proofOf('jfs', async () => standing.key, { ...standing.person, at: claimed })), custody }
  const old = { ...late, address_proofs: proof.address_proofs, sources: proof.sources }
  const bad = async (given: ClaimProof) =>
    (await verify(resealed(given), ask())).filter(({ outcome }) => outcome === 'failed').map(({ name }) => name)
  expect(await bad(old)).toEqual([
    `${standing.key.key}: it was added after the FID changed hands`,
    `${wallet.address}: the message is younger than the last transfer`,
  ])
  expect(await codeOf(resealed({ ...old, custody: null }))).toBe(1)
  expect(await codeOf(resealed({ ...old, custody: { ...custody, since: null } }))).toBe(1)
})

test('what was signed long before the claim is no proof of it', async () => {
  const proof = await proofOf('jfs')
  const claimed_at = new Date(Date.parse(proof.claimed_at) + 3_600_000).toISOString()
  const lines = await checkOffline(resealed({ ...proof, claimed_at, checked_at: claimed_at }))
  expect(lines.find(({ name }) => name === 'the signed time fits that of the claim')?.outcome).toBe('failed')
})

test.each(['eip191', 'jfs'] as const)(
  'a withdrawal by %s that was signed before the claim, or long before the end, ended nothing',
  async (method) => {
    const outcomes: unknown[] = []
    for (const signed of [60, 0, -600, -3_600]) {
      const lines = await checkOffline(await withdrawn(await proofOf(method), undefined, signed))
      outcomes.push(lines.find(({ name }) => name === 'the end was signed after the claim, and its time fits')?.outcome)
    }
    expect(outcomes).toEqual(['held', 'held', 'failed', 'failed'])
  },
)
