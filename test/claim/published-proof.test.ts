import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type pg from 'pg'
import { type Hex, numberToHex, padHex, sha256, toHex } from 'viem'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { claimProof } from '../../api/schemas/claims/proof.ts'
import { readChains, socialRegistriesOf } from '../../config/chains.file.ts'
import { sources } from '../../config/sources.ts'
import { inTransaction } from '../../db/pool.ts'
import { claimProofs } from '../../db/queries/claims/claim-proofs.ts'
import { claimHistory, provableClaims } from '../../db/queries/claims/provable-claims.ts'
import { funder } from '../../devnet/chain/chain.ts'
import { removeAppKey } from '../../devnet/chain/farcaster.ts'
import { createWallet, walletOf } from '../../devnet/chain/wallets.ts'
import type { Message } from '../../devnet/hub/messages.ts'
import { blockHashOf, verificationDigest } from '../../devnet/hub/verifications.ts'
import { exportRecord, importRecord } from '../../export/claims/record.ts'
import { furtherColumns, withProofs } from '../../export/whole-proofs.ts'
import { registries } from '../../trust/proof/ask.ts'
import { checkOffline } from '../../trust/proof/checks.ts'
import { type ClaimProof, sealProof } from '../../trust/proof/proof.ts'
import type { ProvableClaim } from '../../trust/proof/provable.ts'
import { startStageJob } from '../support/api/claim-checks.ts'
import {
  appKeyOf,
  baseUrl,
  type Claimant,
  type ClaimStage,
  eip191Claim,
  freshNonce,
  jfsClaim,
  post,
  siteUrl,
  startClaimStage,
} from '../support/api/claims.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import type { EnrichmentJob } from '../support/enrichment-job.ts'
import { runMain } from '../support/mains.ts'
import { keyAddMessage, keyRemoveMessage } from '../trust/key-adds.ts'

// Published proofs of claims by every method pass trust/proof/main.ts, the command that anybody can check them with.

let stage: ClaimStage
let job: EnrichmentJob
beforeAll(async () => {
  stage = await startClaimStage()
  job = await startStageJob(stage, { perAgent: [sources.proofs.name] })
})
afterAll(async () => {
  await job.close()
  await stage.stop()
})

const proofOf = async ({ fid }: Claimant) => {
  const answer = await stage.api.get(`/api/agent/${fid}/proof`)
  return { status: answer.status, body: (await answer.json()) as ClaimProof }
}

/** The proof of a claim once it is public. */
async function published(claimant: Claimant, body: unknown): Promise<ClaimProof> {
  expect((await post(stage.api, body)).status).toBe(200)
  await job.run()
  expect((await proofOf(claimant)).status).toBe(404) // not public while it could still be submitted elsewhere
  stage.clock.now += 901_000
  const { status, body: proof } = await proofOf(claimant)
  expect(status).toBe(200)
  claimProof.parse(proof)
  return proof
}

const failed = async (proof: ClaimProof) => (await checkOffline(proof)).filter(({ outcome }) => outcome !== 'held')

test('the proof of a signed text holds, and the command says so', async () => {
  const claimant = await stage.claimant()
  const proof = await published(claimant, await eip191Claim(stage, claimant))
  expect(proof).toMatchObject({ state: 'live', ended: null, method: 'eip191' })
  const custody = claimant.custody.address.toLowerCase()
  expect(proof.custody).toMatchObject({ address: custody, chain_id: 10, since: null })
  const { hash } = await stage.chain.client.getBlock({
    blockNumber: BigInt(proof.custody?.read_at?.block_number ?? -1),
  })
  expect(proof.custody?.read_at?.block_hash).toBe(hash)
  await expectAdded(proof, claimant)
  const { host: operator } = new URL(stage.hub.url)
  const has = proof.address_proofs.map(({ message }) => message?.hash)
  expect(proof.sources).toMatchObject([{ operator, witness: false, standing: 'believed', has, lacks: [] }])
  expect(await failed(proof)).toEqual([])
  expect(await command(proof)).toMatchObject({ code: 0 })
  const [key] = proof.keys
  const elsewhere = { ...proof, keys: [{ ...key!, add: { ...key!.add!, log_index: 7 } }] }
  const { sha256: _, ...rest } = elsewhere
  expect(await command(sealProof(rest))).toMatchObject({ code: 1 })
})

/** Runs trust/proof/main.ts, which checks a proof, against the chain and the hub. */
async function command(proof: unknown) {
  const folder = await mkdtemp(join(tmpdir(), 'agent-directory-proof-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'proof.json')
  await writeFile(file, JSON.stringify(proof))
  return runMain('trust/proof/main.ts', [file, '--rpc-10', stage.chain.rpc, '--hub', stage.hub.url])
}

/** Checks that the proof places the key at the chain log that added it. */
async function expectAdded(proof: ClaimProof, { fid, appKey }: Claimant) {
  expect(proof.keys).toMatchObject([{ key: appKey.publicKey, source: 'chain', state: 1, key_add: null }])
  const { chain_id, contract, block_number, block_hash, tx_hash, log_index } = proof.keys[0]?.add ?? {}
  expect([chain_id, contract]).toEqual([10, registries.key])
  const { logs, blockHash, blockNumber } = await stage.chain.client.getTransactionReceipt({ hash: tx_hash as Hex })
  expect([block_number, block_hash]).toEqual([Number(blockNumber), blockHash])
  expect(logs.find(({ logIndex }) => logIndex === log_index)?.topics[1]).toBe(numberToHex(fid, { size: 32 }))
}

test('the proof of a token holds, and says where its key was added', async () => {
  const claimant = await stage.claimant()
  const proof = await published(claimant, jfsClaim(stage, claimant))
  expect(await failed(proof)).toEqual([])
  await expectAdded(proof, claimant)
})

test('the proof of an address whose key is removed since says so, and names the log', async () => {
  const claimant = await stage.claimant()
  const { fid, appKey } = claimant
  await published(claimant, await eip191Claim(stage, claimant))
  await stage.chain.client.setNextBlockTimestamp({ timestamp: BigInt(Math.ceil(stage.clock.now / 1_000)) })
  const { transactionHash, logs } = await stage.chain.execute(funder, removeAppKey(BigInt(fid), appKey.publicKey))
  await stage.chain.client.mine({ blocks: 96 })
  stage.clock.now += 2 * 86_400_000
  await job.run()
  const { body: proof } = await proofOf(claimant)
  expect(proof).toMatchObject({ state: 'live', keys: [{ key: appKey.publicKey, state: 2 }] })
  expect(proof.keys[0]?.remove).toMatchObject({ tx_hash: transactionHash, log_index: logs[0]?.logIndex })
  claimProof.parse(proof)
  expect(await failed(proof)).toEqual([])
  const { code, stdout } = await command(proof)
  expect(code).toBe(3) // whoever has the key can have signed with an older date since
  expect(stdout.match(/^(FAILED|not asked|no answer).*/gm)).toEqual([expect.stringContaining('it still stands')])
  const { sha256: _, ...rest } = proof
  const [key] = proof.keys
  const elsewhere = sealProof({ ...rest, keys: [{ ...key!, remove: key!.add }] })
  expect(await command(elsewhere)).toMatchObject({ code: 1, stdout: expect.stringMatching(/FAILED.*that removed it/) })
})

test('the proof of a contract wallet says on which block it answered, and with which code', async () => {
  const claimant = await stage.claimant()
  const { fid, account } = claimant
  const salt = padHex(numberToHex(fid))
  const address = await walletOf(stage.chain, account.address, salt)
  await stage.chain.execute(funder, createWallet(stage.chain, account.address, salt))
  const digest = verificationDigest({ fid, address, blockHash: blockHashOf(address.toLowerCase()) }, 10)
  stage.hub.state.addVerification(fid, address, {
    contractChain: 10,
    walletSignature: await account.sign!({ hash: digest }),
  })
  const proof = await published(claimant, await eip191Claim(stage, claimant, { address }))
  const { wallet } = proof.address_proofs.find((one) => one.address === address.toLowerCase())!
  expect(wallet).toMatchObject({ chain_id: 10, standard: '1271', answer: 'held' })
  const { hash } = await stage.chain.client.getBlock({ blockNumber: BigInt(wallet?.block_number ?? -1) })
  const code = await stage.chain.client.getCode({ address })
  expect([wallet?.block_hash, wallet?.code_sha256]).toEqual([hash, sha256(code!)])
  expect((await failed(proof)).map(({ outcome }) => outcome)).toEqual(['unknown']) // who asks no chain cannot know
  expect(await command(proof)).toMatchObject({ code: 0 })
})

test('the proof of an address that an off-chain key signed for carries the message that added the key', async () => {
  const claimant = await stage.claimant()
  const { fid } = claimant
  const account = stage.hub.state.accounts.get(fid)!
  const stillStands = expect.stringContaining('it still stands') // messages that remove keys are not asked for
  const own = appKeyOf(`off the chain ${fid}`)
  const appKey = { publicKey: own.publicKey, privateKey: toHex(own.secret) }
  const tell = (message: Message) =>
    stage.hub.state.shards
      .get((fid % 2) + 1)!
      .append(stage.clock.now, [
        { type: 'HUB_EVENT_TYPE_MERGE_MESSAGE', mergeMessageBody: { message, deletedMessages: [] } },
      ])
  tell(await keyAddMessage({ fid, appKey }, claimant.custody, new Date(stage.clock.now)))
  expect(account.fid).toBe(fid)
  stage.clock.now += 60_000
  stage.hub.state.addVerification(fid, claimant.address, { privateKey: claimant.privateKey, appKey })
  stage.clock.now += 60_000
  await job.run()
  const proof = await published(claimant, await eip191Claim(stage, claimant))
  expect(proof.keys).toMatchObject([{ key: own.publicKey, source: 'offchain', state: null, add: null }])
  expect(proof.keys[0]?.key_add?.signed_by).toBe(claimant.custody.address.toLowerCase())
  expect(proof.keys[0]?.key_remove).toBeNull()
  expect((await failed(proof)).map(({ name }) => name)).toEqual([stillStands])
  expect(await command(proof)).toMatchObject({ code: 3 })
  tell(await keyRemoveMessage({ fid, appKey }, claimant.custody, new Date(stage.clock.now)))
  stage.clock.now += 60_000
  await job.run()
  const { body: since } = await proofOf(claimant)
  expect(since.keys[0]?.key_remove?.signed_by).toBe(claimant.custody.address.toLowerCase())
  claimProof.parse(since)
  expect((await failed(since)).map(({ name }) => name)).toEqual([stillStands])
  expect(await command(since)).toMatchObject({ code: 3 })
})

test('the proof of a manifest holds, with its very bytes', async () => {
  expect(await failed(await publishedManifest())).toEqual([])
})

test('what the service reads in more than one spelling, a key or a manifest, holds in each of them', async () => {
  const claimant = await stage.claimant()
  const key = `0x${claimant.appKey.publicKey.slice(2).toUpperCase()}`
  expect(await failed(await published(claimant, jfsClaim(stage, claimant, { header: { key } })))).toEqual([])
  expect(await failed(await publishedManifest({}, (text) => `\uFEFF${text}`))).toEqual([])
  const manifest = await publishedManifest()
  const statement = { ...manifest.statement, url: 'https://host.example/.well-known/agent-directory.json', body: '' }
  const { fid, service, address_proofs } = manifest
  const addresses = address_proofs.map(({ address }) => address)
  statement.body = JSON.stringify({ service, host: 'Host.Example', fid, addresses })
  const lines = await failed({ ...manifest, statement } as ClaimProof)
  expect(JSON.stringify(lines)).not.toContain('service and host')
})

/** The proof of a manifest with the given further fields. */
async function publishedManifest(
  further: object = {},
  written: (text: string) => string = (text) => text,
): Promise<ClaimProof> {
  const claimant = await stage.claimant()
  const { fid, address } = claimant
  const { name: host } = stage.host
  stage.hub.state.setProfile(fid, { url: `https://${host}/about` })
  const manifest = { service: 'agent-directory', host, fid, addresses: [address], ...further }
  const body = written(JSON.stringify(manifest))
  stage.host.pages.set('/.well-known/agent-directory.json', { body, headers: { 'content-type': 'application/json' } })
  return published(claimant, { method: 'well-known', fid, host, nonce: freshNonce() })
}

test('of several claims the newest that stands is shown, and of an ended one how it ended', async () => {
  const claimant = await stage.claimant()
  await published(claimant, await eip191Claim(stage, claimant))
  await post(stage.api, jfsClaim(stage, claimant))
  expect((await proofOf(claimant)).body.method).toBe('eip191') // the newer one is not public yet
  stage.clock.now += 901_000
  const both = (await proofOf(claimant)).body
  expect(both).toMatchObject({ method: 'jfs', state: 'live' })
  expect(both.history).toHaveLength(2)
  const withdrawal = await eip191Claim(stage, claimant, { action: 'withdraw' })
  expect((await post(stage.api, withdrawal, { query: '/withdraw' })).status).toBe(200)
  stage.clock.now += 31_000 // past the time for which readers may cache an answer
  const ended = (await proofOf(claimant)).body
  expect(ended).toMatchObject({ state: 'ended', ended: { reason: 'withdrawn' }, method: 'jfs' })
  expect(ended.ended?.statement).toBeNull() // what was signed is not public yet
  expect(JSON.stringify(ended)).not.toContain(withdrawal.signature)
  expect((await failed(ended)).map(({ name }) => name)).toEqual(['the claim was ended by who could'])
  stage.clock.now += 901_000
  const later = (await proofOf(claimant)).body
  claimProof.parse(later)
  expect(later.ended?.statement).toMatchObject({ kind: 'eip191', signature: withdrawal.signature })
  expect(await failed(later)).toEqual([])
})

test('an export has the same proof, at the claim that it is of', async () => {
  const claimant = await stage.claimant()
  const { fid } = claimant
  await published(claimant, await eip191Claim(stage, claimant))
  await post(stage.api, jfsClaim(stage, claimant))
  stage.clock.now += 901_000
  const { body: proof } = await proofOf(claimant)
  const columns = ['fid', 'method', 'nonce'].map((name) => ({ name, type: 'text' }) as const)
  const { rows } = await stage.database.pool.query(
    'select fid::text, method, nonce from claim where fid = $1 order by method',
    [fid],
  )
  const { service: serviceName, site_url: siteUrl, base_url: baseUrl } = proof
  const terms = { serviceName, siteUrl, baseUrl, registries: socialRegistriesOf(readChains({ env: {} })) }
  const given = rows.map((row) => [row.fid, row.method, row.nonce])
  const exported = await withProofs(stage.database.pool, columns, given, { terms, at: new Date(stage.clock.now) })
  expect(exported.map(([, method, , whole]) => [method, whole && JSON.parse(whole)])).toEqual([
    ['eip191', null],
    ['jfs', proof],
  ])
  expect(furtherColumns('claims').map(({ name }) => name)).toEqual(['whole_proof'])
})

test('a proof names the registries that were asked, and so does an export', async () => {
  const claimant = await stage.claimant()
  await published(claimant, await eip191Claim(stage, claimant))
  const keyRegistry = { address: `0x${'cd'.repeat(20)}` }
  const idRegistry = { address: `0x${'ef'.repeat(20)}` }
  const chains = readChains({ env: {}, file: { optimism: { keyRegistry, idRegistry } } })
  const terms = { serviceName: 'agent-directory', siteUrl, baseUrl, registries: socialRegistriesOf(chains) }
  const proofs = await claimProofs(stage.database.pool, { fids: [claimant.fid], now: new Date(stage.clock.now), terms })
  const proof = proofs.get(claimant.fid)
  expect([proof?.keys[0]?.add?.contract, proof?.custody?.contract]).toEqual([keyRegistry.address, idRegistry.address])
})

test('what was signed is public when its time has passed everywhere, in the SQL contract too', async () => {
  const claimant = await stage.claimant()
  const timestamp = new Date(stage.clock.now + 840_000).toISOString()
  const body = await eip191Claim(stage, claimant, { timestamp })
  expect((await post(stage.api, body)).status).toBe(200)
  await job.run()
  stage.clock.now += 901_000
  expect((await proofOf(claimant)).status).toBe(404)
  stage.clock.now += 840_000
  expect((await proofOf(claimant)).status).toBe(200)
  const shown = async (claimed: string, signed: string) => {
    const db = await stage.database.pool.connect()
    try {
      await db.query('begin')
      await db.query(
        'update claim set claimed_at = now() - $2::interval, signed_at = now() - $3::interval where fid = $1',
        [claimant.fid, claimed, signed],
      )
      const { rows } = await db.query('select proof from directory.claims where fid = $1', [claimant.fid])
      return rows[0].proof !== null
    } finally {
      await db.query('rollback')
      db.release()
    }
  }
  expect(await shown('16 minutes', '5 minutes')).toBe(false)
  expect(await shown('5 minutes', '16 minutes')).toBe(false)
  expect(await shown('16 minutes', '16 minutes')).toBe(true)
})

test('there is none of an account that nobody claimed', async () => {
  expect((await proofOf(await stage.claimant())).status).toBe(404)
})

describe('the record of claims', () => {
  /** [fid, public part of its claim, history of its claims] of every claimed fid in a database. */
  async function known(pool: pg.Pool) {
    const { rows } = await pool.query<{ fid: number }>('select distinct fid from claim order by fid')
    return Promise.all(
      rows.map(async ({ fid }) => {
        const [{ hubs: _, ...claim }] = (await provableClaims(pool, [fid], new Date(stage.clock.now))) as [
          ProvableClaim,
        ]
        return [fid, claim, await claimHistory(pool, fid)]
      }),
    )
  }
  const imported = async (into: TestDatabase, path: string) => inTransaction(into.pool, (db) => importRecord(db, path))
  async function emptyDatabase() {
    const empty = await createTestDatabase()
    onTestFinished(() => empty.drop())
    return empty
  }
  /** In JSON both may stand in a text as they are, and some readers take them for line ends. */
  const separators = 'a\u2028b\u2029c'
  let file: string
  beforeAll(async () => {
    await publishedManifest({ note: separators })
    file = join(await mkdtemp(join(tmpdir(), 'agent-directory-claims-')), 'claims.ndjson')
    expect(await inTransaction(stage.database.pool, (db) => exportRecord(db, file))).toBeGreaterThan(20)
  })
  afterAll(() => rm(dirname(file), { recursive: true }))

  test('goes into an empty database and out again byte for byte, proofs and all', async () => {
    const { pool, ...other } = await emptyDatabase()
    expect(await readFile(file, 'utf8')).toContain(separators)
    await imported({ pool, ...other }, file)
    const again = `${file}.again`
    await inTransaction(pool, (db) => exportRecord(db, again))
    expect(await readFile(again, 'utf8')).toBe(await readFile(file, 'utf8'))
    expect(await known(pool)).toEqual(await known(stage.database.pool))
    await expect(imported({ pool, ...other }, file)).rejects.toThrow(/^the database has rows of claim, claim_event/)
    await expect(inTransaction(pool, (db) => exportRecord(db, file))).rejects.toThrow('is there already')
  })

  test('can be read by its owner alone', async () => {
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  test('that was cut or changed is refused, and so is one whose checksum fits what was changed', async () => {
    const empty = await emptyDatabase()
    const whole = await readFile(file, 'utf8')
    const lines = whole.trimEnd().split('\n')
    const sealed = (rows: readonly string[]) => {
      const text = rows.map((row) => `${row}\n`).join('')
      const sha256 = createHash('sha256').update(text).digest('hex')
      return `${text}${JSON.stringify({ format: 'claim-record/1', rows: rows.length, sha256 })}\n`
    }
    const rows = lines.slice(0, -1)
    expect(sealed(rows)).toBe(whole)
    const event = rows.findIndex((row) => row.startsWith('{"table":"claim_event"'))
    const cases = [
      [whole.slice(0, -5), /not a complete record/],
      [lines.slice(0, -1).join('\n'), /not a complete record/],
      [whole.replace('"state":"live"', '"state":"suspended"'), /not a complete record.*it was changed/],
      [sealed(rows.map((row, n) => (n === event ? row.replace('"at":"2', '"at":"1') : row))), /not what the file has/],
      [sealed(rows.filter((_, n) => n !== event)), /not what the file has|without the event that made it/],
    ] as const
    for (const [text, problem] of cases) {
      const path = join(dirname(file), 'changed.ndjson')
      await writeFile(path, text)
      await expect(imported(empty, path)).rejects.toThrow(problem)
    }
    const left = await empty.pool.query('select from claim union all select from claim_event')
    expect(left.rowCount).toBe(0)
  })
})
