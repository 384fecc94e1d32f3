import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { changeLine } from '../../api/routes/log/changes.ts'
import { claimHistoryList, claimProof } from '../../api/schemas/claims/proof.ts'
import { claimHistory } from '../../db/queries/claims/provable-claims.ts'
import { isClaimHistory, type SealedClaimEvent } from '../../trust/claim-event.ts'
import { checkOffline } from '../../trust/proof/checks.ts'
import { type ClaimProof, sealProof } from '../../trust/proof/proof.ts'
import { type Claimant, type ClaimStage, eip191Claim, jfsClaim, post, startClaimStage } from '../support/api/claims.ts'
import { runMain } from '../support/mains.ts'

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

test('a proof shows the newest events and those of its claim, however long the history, which is in pages', async () => {
  const claimant = await stage.claimant()
  const { fid } = claimant
  const claimedBy = async (body: { nonce: string }) => {
    expect((await post(stage.api, body)).status).toBe(200)
    return body.nonce
  }
  const older = await claimedBy(await eip191Claim(stage, claimant))
  const own = await claimedBy(await eip191Claim(stage, claimant))
  await stage.database.pool.query(
    `insert into claim_event (fid, method, nonce, kind, at, evidence)
     select $1, 'eip191', case when n <= 4 then $3 else $2 end, case n % 2 when 0 then 'resumed' else 'suspended' end,
            now(), ('{"reason":"' || repeat('x', 16384) || '"}')::json from generate_series(1, 300) n`,
    [fid, older, own],
  )
  stage.clock.now += 901_000
  const proof = claimProof.parse(await (await stage.api.get(`/api/agent/${fid}/proof`)).json()) as ClaimProof
  expect([proof.nonce, proof.state]).toEqual([own, 'live'])
  expect(proof.history.map(({ seq }) => seq)).toEqual([2, 6, ...Array.from({ length: 100 }, (_, n) => 203 + n)])
  const historyOf = async ({ sha256: _, ...rest }: ClaimProof, history: ClaimProof['history']) => {
    const lines = await checkOffline(sealProof({ ...rest, history }))
    return lines.filter(({ name, outcome }) => outcome === 'failed' && name.includes('history')).map(({ name }) => name)
  }
  expect(await historyOf(proof, proof.history)).toEqual([])
  for (const left of [0, 2, 50, 100]) {
    expect(await historyOf(proof, proof.history.toSpliced(left, 1))).not.toEqual([])
  }
  const folder = await mkdtemp(join(tmpdir(), 'agent-directory-proof-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  // As proofs were before: whoever kept one can check it.
  const { sha256: _, ...rest } = proof
  const whole = sealProof({ ...rest, history: await history(claimant) })
  for (const [name, kept] of Object.entries({ proof, whole })) {
    const file = join(folder, `${name}.json`)
    await writeFile(file, JSON.stringify(kept))
    expect((await runMain('trust/proof/main.ts', [file])).stdout).toMatch(/^held +the history is whole$/m)
  }
  const events: SealedClaimEvent[] = []
  let next: string | null = ''
  for (let pages = 0; next !== null && pages < 10; pages++) {
    const answer = await stage.api.get(`/api/agent/${fid}/proof/history?limit=70&cursor=${next}`)
    const page = claimHistoryList.parse(await answer.json())
    events.push(...(page.history as SealedClaimEvent[]))
    expect(answer.headers.get('link') === null).toBe(page.next_cursor === null)
    next = page.next_cursor
  }
  expect(events).toEqual(await history(claimant))
  expect(isClaimHistory(fid, events)).toBe(true)
  const unclaimed = await stage.claimant()
  expect((await stage.api.get(`/api/agent/${unclaimed.fid}/proof/history`)).status).toBe(404)
})

test.each(['update claim_event set seq = seq', 'delete from claim_event', 'truncate claim_event'])(
  'what happened is never changed: %s',
  async (statement) => {
    await expect(stage.database.pool.query(statement)).rejects.toThrow('claim_event is appended to and never changed')
  },
)
