import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { changeLine } from '../../api/routes/changes.ts'
import { migrate } from '../../db/migrate.ts'
import { claimHistory } from '../../db/queries/read/provable-claims.ts'
import { isClaimHistory, type SealedClaimEvent } from '../../trust/claim-event.ts'
import { type Claimant, type ClaimStage, eip191Claim, jfsClaim, post, startClaimStage } from '../support/api/claims.ts'
import { createTestDatabase } from '../support/database.ts'
import { insert } from '../support/seed.ts'

let stage: ClaimStage
beforeAll(async () => {
  stage = await startClaimStage()
})
afterAll(() => stage.stop())

const history = async ({ fid }: Claimant) => (await claimHistory(stage.database.pool, fid)) as SealedClaimEvent[]

test('every claim is an event of a chain, whose newest hash is in the change log', async () => {
  const claimant = await stage.claimant()
  await post(stage.api, await eip191Claim(stage, claimant))
  await post(stage.api, jfsClaim(stage, claimant)) // in the same millisecond of the clock
  const events = await history(claimant)
  expect(events.map(({ kind, method }) => `${kind} ${method}`)).toEqual(['claimed eip191', 'claimed jfs'])
  expect(isClaimHistory(claimant.fid, events)).toBe(true)
  expect(new Set(events.map(({ at }) => at)).size).toBe(2)
  const text = await (await stage.api.get('/data/changes.ndjson')).text()
  const lines = text.trim().split('\n')
  const last = lines.map((line) => changeLine.parse(JSON.parse(line))).findLast(({ fid }) => fid === claimant.fid)
  expect(last?.claim_sha256).toBe(events[1]?.sha256)
})

test('a refused claim leaves no event', async () => {
  const claimant = await stage.claimant()
  const claim = await eip191Claim(stage, claimant)
  await post(stage.api, claim)
  expect((await post(stage.api, claim)).status).toBe(409)
  expect((await post(stage.api, await eip191Claim(stage, claimant, { address: claimant.custody.address }))).ok).toBe(
    false,
  )
  expect(await history(claimant)).toHaveLength(1)
})

test('parallel claims of one account have one order', async () => {
  const claimant = await stage.claimant()
  const other = await stage.another()
  const bodies = await Promise.all(Array.from({ length: 16 }, () => eip191Claim(stage, claimant)))
  const answers = await Promise.all(bodies.map((body, index) => post(index % 2 ? other : stage.api, body)))
  expect(answers.map(({ status }) => status)).toEqual(bodies.map(() => 200))
  const events = await history(claimant)
  expect(isClaimHistory(claimant.fid, events)).toBe(true)
  const { rows } = await stage.database.pool.query('select nonce from claim where fid = $1 order by claimed_at', [
    claimant.fid,
  ])
  expect(rows.map(({ nonce }) => nonce)).toEqual(events.map(({ nonce }) => nonce))
})

test.each(['update claim_event set seq = seq', 'delete from claim_event', 'truncate claim_event'])(
  'what happened is never changed: %s',
  async (statement) => {
    await expect(stage.database.pool.query(statement)).rejects.toThrow('claim_event is appended to and never changed')
  },
)

test('claims that were accepted before there were events have theirs after the migration', async () => {
  const { url, pool, drop } = await createTestDatabase()
  onTestFinished(drop)
  await pool.query('drop schema public cascade; drop schema directory cascade; create schema public')
  const folder = await mkdtemp(join(tmpdir(), 'agent-directory-migrations-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const all = fileURLToPath(new URL('../../db/migrations', import.meta.url))
  await cp(all, folder, { recursive: true, filter: (path) => path === all || basename(path) < '1020' })
  await migrate(url, { folder: pathToFileURL(`${folder}/`) })
  const claimed_at = new Date('2026-03-01T00:00:00.123Z')
  for (const nonce of ['nonce0002', 'nonce0001']) {
    const proof = { proof: '{}', proof_sha256: Buffer.from(nonce), signer: '0x', received_at: claimed_at, claimed_at }
    await insert(pool, 'claim', { fid: 5, method: 'jfs', nonce, ...proof, verified_addresses: [] })
  }
  await migrate(url)
  const events = (await claimHistory(pool, 5)) as SealedClaimEvent[]
  expect(events.map(({ nonce }) => nonce)).toEqual(['nonce0001', 'nonce0002'])
  expect(isClaimHistory(5, events)).toBe(true)
  const { rows } = await pool.query('select state from claim')
  expect(rows).toEqual([{ state: 'live' }, { state: 'live' }])
})
