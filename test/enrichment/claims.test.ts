import { padHex, toHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { sources } from '../../config/sources.ts'
import { addSubjects } from '../../db/queries/sources/source-state.ts'
import { accountOf, funder } from '../../devnet/chain/chain.ts'
import { addAppKey, removeAppKey } from '../../devnet/chain/farcaster.ts'
import { createWallet, walletOf } from '../../devnet/chain/wallets.ts'
import { blockHashOf, verificationDigest } from '../../devnet/hub/verifications.ts'
import { day, hour, minute } from '../../ops/time.ts'
import { isClaimHistory } from '../../trust/claim-event.ts'
import { claimChecks, manifestPath, startStageJob } from '../support/api/claim-checks.ts'
import { appKeyOf, eip191Claim } from '../support/api/claims.ts'

// The basis of a claim is re-checked. Once it is gone the claim ends: at once on evidence, later on silence.

const checks = claimChecks()
const { passing, looking, history, kinds, lastEvidence, claimed, byText, byKey, byManifest } = checks
const { transferred, finalized } = checks

const profile = async () => {
  const answer = await checks.stage.api.get(`/api/agent/${checks.claimant.fid}?at=${checks.stage.clock.now}`)
  return answer.status === 200 ? ((await answer.json()) as { claimed: boolean }) : answer.status
}

test('a claim whose grounds hold stands, and says when it was looked at', async () => {
  await byText()
  await byKey()
  await passing(25 * hour)
  expect(await kinds()).toEqual(['claimed', 'claimed'])
  const { rows } = await checks.stage.database.pool.query('select checked_at from claim where fid = $1', [
    checks.claimant.fid,
  ])
  for (const { checked_at } of rows) expect(checked_at.getTime()).toBeGreaterThan(checks.stage.clock.now - 2 * hour)
})

describe.each([
  ['given away', 't', 'fid_transferred'],
  ['recovered', 'r', 'fid_recovered'],
] as const)('an account that was %s', (_, kind, reason) => {
  test('has its claims suspended at the block and ended when it is final', async () => {
    await byText()
    await byKey()
    await finalized(999)
    checks.stage.clock.now += minute
    await transferred(kind)
    await checks.job.run()
    expect(await kinds()).toEqual(['claimed', 'claimed', 'suspended', 'suspended'])
    expect(await profile()).toMatchObject({ claimed: true })
    await finalized(1_000)
    await passing(2 * minute)
    expect(await kinds()).toEqual(['claimed', 'claimed', 'suspended', 'suspended', 'ended', 'ended'])
    expect(await lastEvidence()).toEqual({
      reason,
      detail: { chain: 'optimism', block_number: 1_000, log_index: 3, tx_hash: `0x${'07'.repeat(32)}` },
    })
    expect(await profile()).toBe(404)
    expect(isClaimHistory(checks.claimant.fid, await history())).toBe(true)
  })

  test('keeps them when a reorg undoes it', async () => {
    await byText()
    await finalized(999)
    checks.stage.clock.now += minute
    await transferred(kind)
    await checks.job.run()
    await checks.stage.database.pool.query('delete from fid_custody where fid = $1', [checks.claimant.fid])
    await checks.job.run()
    expect(await kinds()).toEqual(['claimed', 'suspended', 'resumed'])
  })
})

test('a transfer before the claim is none of its business', async () => {
  await finalized(1)
  await transferred('t', 1)
  await passing(minute)
  checks.stage.hub.state.addVerification(checks.claimant.fid, checks.claimant.address, {
    privateKey: checks.claimant.privateKey,
  })
  await checks.job.run()
  await byText()
  await passing(day)
  expect(await kinds()).toEqual(['claimed'])
})

test('a signed removal of the verification ends a claim of the address at once, and no other', async () => {
  await byText()
  await byKey()
  checks.stage.clock.now += minute
  checks.stage.hub.state.removeVerification(checks.claimant.fid, checks.claimant.address)
  await checks.job.run()
  expect((await history()).map(({ kind, method }) => `${kind} ${method}`)).toEqual([
    'claimed eip191',
    'claimed jfs',
    'ended eip191',
  ])
  expect(await lastEvidence()).toEqual({
    reason: 'verification_removed',
    detail: { address: checks.claimant.address, removal: expect.stringMatching(/^0x[0-9a-f]{40}$/) },
  })
  expect(await profile()).toMatchObject({ claimed: true, claim_method: 'jfs' })
})

test('a removal that a key of nobody signed is worth no more than a hub that leaves the verification out', async () => {
  await byText()
  const key = appKeyOf(`a hub's own for ${checks.claimant.fid}`)
  checks.stage.clock.now += minute
  const account = checks.stage.hub.state.accounts.get(checks.claimant.fid)!
  const signer = { publicKey: key.publicKey, privateKey: toHex(key.secret) }
  checks.stage.hub.state.accounts.set(checks.claimant.fid, { ...account, signer })
  checks.stage.hub.state.removeVerification(checks.claimant.fid, checks.claimant.address)
  await checks.job.run()
  expect(await kinds()).toEqual(['claimed', 'suspended'])
  expect(await lastEvidence()).toMatchObject({ reason: 'verification_removed', looks: [{}] })
})

test('without a node, a removal ends a claim only when the key of the verification signed it', async () => {
  await byText()
  const job = await startStageJob(checks.stage, { env: { RPC_OPTIMISM: '' } })
  const { fid, address } = checks.claimant
  const account = checks.stage.hub.state.accounts.get(fid)!
  const verifications = new Map(account.verifications)
  const key = appKeyOf(`a stranger's for ${fid}`)
  const signer = { publicKey: key.publicKey, privateKey: toHex(key.secret) }
  try {
    checks.stage.clock.now += minute
    checks.stage.hub.state.accounts.set(fid, { ...account, signer })
    checks.stage.hub.state.removeVerification(fid, address)
    checks.stage.hub.state.accounts.set(fid, { ...account, verifications })
    await job.run()
    expect(await kinds()).toEqual(['claimed'])
    expect(await profile()).toMatchObject({ claimed: true })
    checks.stage.clock.now += minute
    checks.stage.hub.state.removeVerification(fid, address)
    await job.run()
    expect(await kinds()).toEqual(['claimed', 'ended'])
  } finally {
    await job.close()
  }
})

test('an app key whose Add a reorg takes back suspends the claims that rest on it, and ends them once that is final', async () => {
  const { client } = checks.stage.chain
  const { fid } = checks.claimant
  const job = await startStageJob(checks.stage, { perAgent: [sources.proofs.name] })
  const proofs = { priority: 0, dueAt: new Date(checks.stage.clock.now) } as const
  await addSubjects(checks.stage.database.pool, sources.proofs.name, [`fid:${fid}`], proofs)
  const later = async (ms: number) => {
    checks.stage.clock.now += ms
    await job.run()
  }
  await client.mine({ blocks: 1 })
  const id = await client.snapshot()
  const key = appKeyOf(`undone for ${fid}`)
  const signer = { publicKey: key.publicKey, privateKey: toHex(key.secret) }
  await checks.stage.chain.execute(funder, addAppKey(BigInt(fid), key.publicKey))
  const { address, privateKey } = checks.claimant
  checks.stage.clock.now += minute
  const account = checks.stage.hub.state.accounts.get(fid)!
  checks.stage.hub.state.accounts.set(fid, { ...account, signer })
  checks.stage.hub.state.addVerification(fid, address, { privateKey })
  await job.run()
  await byText()
  await later(6 * minute)
  expect(await kinds()).toEqual(['claimed'])
  await client.revert({ id })
  await later(6 * minute)
  expect(await kinds()).toEqual(['claimed', 'suspended'])
  expect(await lastEvidence()).toMatchObject({ reason: 'key_removed', looks: [{ detail: { key: key.publicKey } }] })
  await client.setNextBlockTimestamp({ timestamp: BigInt(Math.ceil(checks.stage.clock.now / 1_000)) })
  await client.mine({ blocks: 96 })
  await later(2 * minute)
  expect(await kinds()).toEqual(['claimed', 'suspended', 'ended'])
  await job.close()
})

test('a verification that is left out suspends a claim, and ends it when that is said again an hour later', async () => {
  await byText()
  const account = checks.stage.hub.state.accounts.get(checks.claimant.fid)
  const [key, message] = [...(account?.verifications ?? [])][0] ?? []
  account?.verifications.clear()
  await passing(day + 2 * hour) // read again; the first empty answer ends nothing yet
  await passing(2 * hour)
  expect(await kinds()).toEqual(['claimed', 'suspended'])
  await passing(30 * minute)
  expect(await kinds()).toEqual(['claimed', 'suspended'])
  if (key && message) account?.verifications.set(key, message)
  await passing(2 * hour)
  expect(await kinds()).toEqual(['claimed', 'suspended', 'resumed'])
  account?.verifications.clear()
  await passing(day + 2 * hour)
  for (let hours = 0; hours < 6; hours++) await passing(hour)
  expect((await kinds()).slice(3)).toEqual(['suspended', 'ended'])
  expect(await lastEvidence()).toMatchObject({ reason: 'verification_removed', looks: [{}, {}] })
})

test.each([
  ['an address', byText],
  ['a manifest', byManifest],
])('a verification that the network lets go by itself suspends alone: %s', async (_, claim) => {
  await claim()
  const { fid, address, privateKey } = checks.claimant
  checks.stage.clock.now += minute
  checks.stage.hub.state.removeVerification(fid, address, 'prune')
  await checks.job.run()
  for (let looks = 0; looks < 5; looks++) await looking(30 * hour)
  expect(await kinds()).toEqual(['claimed', 'suspended'])
  checks.stage.hub.state.addVerification(fid, address, { privateKey })
  await passing(minute)
  expect(await kinds()).toEqual(['claimed', 'suspended', 'resumed'])
})

test('an app key that was removed suspends its claims until its removal is final', async () => {
  await byKey()
  await byText()
  const removal = await checks.stage.chain.execute(
    funder,
    removeAppKey(BigInt(checks.claimant.fid), checks.claimant.appKey.publicKey),
  )
  checks.stage.hub.state.removeAppKey(checks.claimant.fid, checks.claimant.appKey.publicKey)
  await passing(minute)
  expect((await history()).map(({ kind, method }) => `${kind} ${method}`)).toEqual([
    'claimed jfs',
    'claimed eip191',
    'suspended jfs',
  ])
  await checks.stage.chain.client.mine({ blocks: 96 })
  await passing(2 * minute)
  expect((await history()).at(-1)).toMatchObject({
    kind: 'ended',
    method: 'jfs',
    evidence: {
      reason: 'key_removed',
      detail: {
        key: checks.claimant.appKey.publicKey,
        chain: 'optimism',
        log: {
          block_number: Number(removal.blockNumber),
          block_hash: removal.blockHash,
          tx_hash: removal.transactionHash,
          log_index: removal.logs[0]?.logIndex,
        },
      },
    },
  })
})

test('an app key whose removal a reorg undoes has its claims resumed', async () => {
  await byKey()
  const { client } = checks.stage.chain
  const id = await client.snapshot()
  await checks.stage.chain.execute(funder, removeAppKey(BigInt(checks.claimant.fid), checks.claimant.appKey.publicKey))
  checks.stage.hub.state.removeAppKey(checks.claimant.fid, checks.claimant.appKey.publicKey)
  await passing(minute)
  expect(await kinds()).toEqual(['claimed', 'suspended'])
  expect(await lastEvidence()).toMatchObject({ reason: 'key_removed' })
  await client.revert({ id })
  await looking(day + 2 * hour)
  expect(await kinds()).toEqual(['claimed', 'suspended', 'resumed'])
})

describe('a manifest', () => {
  const gone = [
    ['is not there any more', () => checks.stage.host.pages.delete(manifestPath)],
    ['became a page', () => checks.stage.host.pages.set(manifestPath, { body: '<html>' })],
    ['names an address that is not verified', () => change({ addresses: [accountOf('nobody').address] })],
    [
      'is on a host that nothing links to the account any more',
      () => checks.stage.hub.state.setProfile(checks.claimant.fid, { url: 'https://elsewhere.example' }),
    ],
    [
      'is on a host that the profile names by the word of a hub alone',
      () => {
        const { accounts } = checks.stage.hub.state
        const { userData } = accounts.get(checks.claimant.fid)!
        const message = userData.get('USER_DATA_TYPE_URL')!
        userData.set('USER_DATA_TYPE_URL', { ...message, signer: appKeyOf('a hub’s own').publicKey })
      },
    ],
    [
      'rests on an address that only the word of a hub makes the account’s',
      () =>
        checks.stage.database.pool.query(
          `update farcaster_message set message = jsonb_set(message::jsonb, '{hash}', to_jsonb('0x' || repeat('ab', 20)))::json
            where fid = $1`,
          [checks.claimant.fid],
        ),
    ],
  ] as const
  const change = (fields: object) => {
    const { body } = checks.stage.host.pages.get(manifestPath) as { body: object }
    checks.stage.host.pages.set(manifestPath, { body: { ...body, ...fields } })
  }

  test.each(gone)('that %s suspends its claim, and ends it after three days', async (_, happen) => {
    await byManifest()
    await happen()
    await looking(27 * hour)
    expect(await kinds()).toEqual(['claimed', 'suspended'])
    await looking(30 * hour)
    await looking(12 * hour) // not three days yet
    expect((await kinds()).at(-1)).toBe('suspended')
    for (let days = 0; days < 3; days++) await looking(30 * hour)
    expect((await kinds()).at(-1)).toBe('ended')
    expect(await lastEvidence()).toMatchObject({ reason: 'manifest_gone' })
    expect((await history()).filter(({ kind }) => kind === 'suspended').length).toBeGreaterThanOrEqual(2)
  })

  test.each([
    ['says that it withdraws', { withdrawn: true }],
    ['names another account', { fid: 4_444 }],
  ])('that %s ends its claim at the next look', async (_, fields) => {
    await byManifest()
    change(fields)
    await looking(27 * hour)
    expect(await kinds()).toEqual(['claimed', 'ended'])
    expect(await lastEvidence()).toMatchObject({ reason: 'manifest_gone', detail: fields })
  })

  test('stays linked by whatever links its host now, not only by what did then', async () => {
    await byManifest()
    const { fid, custody } = checks.claimant
    checks.stage.hub.state.setProfile(fid, { url: '' })
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const header = part({ fid, type: 'custody', key: custody.address })
    const payload = part({ domain: checks.stage.host.name })
    const hex = await custody.signMessage({ message: `${header}.${payload}` })
    const signature = Buffer.from(hex.slice(2), 'hex').toString('base64url')
    const accountAssociation = { header, payload, signature }
    checks.stage.host.pages.set('/.well-known/farcaster.json', { body: { accountAssociation } })
    for (let days = 0; days < 4; days++) await looking(27 * hour)
    expect(await kinds()).toEqual(['claimed'])
    checks.stage.host.pages.delete('/.well-known/farcaster.json')
    await looking(27 * hour)
    expect(await kinds()).toEqual(['claimed', 'suspended'])
    expect(await lastEvidence()).toMatchObject({
      reason: 'manifest_gone',
      looks: [
        {
          detail: {
            host: checks.stage.host.name,
            problem: 'nothing links the host to the account',
            linked_by: 'profile_url',
          },
        },
      ],
    })
  })

  test('ends nothing while what links its host cannot be looked at', async () => {
    await byManifest()
    checks.stage.hub.state.setProfile(checks.claimant.fid, { url: '' })
    checks.stage.host.pages.set('/.well-known/farcaster.json', { status: 503, body: {} })
    for (let days = 0; days < 5; days++) await looking(27 * hour)
    expect(await kinds()).toEqual(['claimed'])
  })

  test('whose host is out of order for a week ends nothing', async () => {
    await byManifest()
    checks.stage.host.pages.set(manifestPath, { status: 503, body: {} })
    for (let days = 0; days < 7; days++) await looking(27 * hour)
    expect(await kinds()).toEqual(['claimed'])
  })
})

test('a contract wallet that denies what it signed suspends its claim, and ends it when it does so a day later', async () => {
  const { chain, hub } = checks.stage
  const { fid, account } = checks.claimant
  const salt = padHex(`0x${fid.toString(16).padStart(4, '0')}`)
  const wallet = await walletOf(chain, account.address, salt)
  await chain.execute(funder, createWallet(chain, account.address, salt))
  const hash = verificationDigest({ fid, address: wallet, blockHash: blockHashOf(wallet.toLowerCase()) }, 10)
  hub.state.addVerification(fid, wallet, { contractChain: 10, walletSignature: await account.sign!({ hash }) })
  await claimed(await eip191Claim(checks.stage, checks.claimant, { address: wallet }))
  await looking(25 * hour)
  expect(await kinds()).toEqual(['claimed'])
  const bytecode = await chain.client.getCode({ address: wallet })
  const denies = () => chain.client.setCode({ address: wallet, bytecode: '0x60006000fd' })
  await denies()
  await looking(30 * hour)
  expect(await kinds()).toEqual(['claimed', 'suspended'])
  await chain.client.setCode({ address: wallet, bytecode: bytecode! })
  await looking(30 * hour)
  expect(await kinds()).toEqual(['claimed', 'suspended', 'resumed'])
  await denies()
  await looking(30 * hour)
  expect((await kinds()).slice(3)).toEqual(['suspended'])
  await looking(20 * hour)
  expect((await kinds()).slice(3)).toEqual(['suspended'])
  await looking(30 * hour)
  expect((await kinds()).slice(3)).toEqual(['suspended', 'ended'])
  expect(await lastEvidence()).toMatchObject({ reason: 'wallet_denies' })
})

test('with CLAIM_LAPSE off nothing but a withdrawal ends a claim', async () => {
  const other = await startStageJob(checks.stage, { env: { CLAIM_LAPSE: 'off' } })
  await expect(other.pass('claim_checks')).rejects.toThrow('claim_checks is not on')
  await other.close()
})
