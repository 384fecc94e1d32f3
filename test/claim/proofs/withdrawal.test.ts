import { afterAll, beforeAll, expect, test } from 'vitest'
import { readChains, socialRegistriesOf } from '../../../config/chains.file.ts'
import { withProofs } from '../../../export/whole-proofs.ts'
import { checkOffline } from '../../../trust/proof/checks.ts'
import { type ClaimProof, sealProof } from '../../../trust/proof/proof.ts'
import { baseUrl, type ClaimStage, eip191Claim, post, siteUrl, startClaimStage } from '../../support/api/claims.ts'

let stage: ClaimStage
beforeAll(async () => {
  stage = await startClaimStage()
})
afterAll(() => stage.stop())

/** Signed texts that are shown of an account: by the API, in a file, and in the SQL contract. */
async function signedTexts(fid: number) {
  stage.clock.now += 31_000 // past the time for which readers may cache an answer
  const answer = await stage.api.get(`/api/agent/${fid}/proof`)
  const { pool } = stage.database
  const { rows } = await pool.query('select fid::text, method, nonce from claim where fid = $1', [fid])
  const columns = ['fid', 'method', 'nonce'].map((name) => ({ name, type: 'text' }) as const)
  const terms = {
    serviceName: 'agent-directory',
    siteUrl,
    baseUrl,
    registries: socialRegistriesOf(readChains({ env: {} })),
  }
  const given = rows.map((row) => [row.fid, row.method, row.nonce])
  const [row] = await withProofs(pool, columns, given, { terms, at: new Date(stage.clock.now) })
  const filed = row?.at(-1) as string | null
  const shown = (text: string) =>
    pool.query(
      `select from directory.claims c where c.fid = $1 and strpos(c::text, $2) > 0 union all
       select from directory.claim_events e where e.fid = $1 and strpos(e::text, $2) > 0`,
      [fid, text],
    )
  const withdrawal = (proof: ClaimProof | null) => (proof?.ended?.statement as { signature?: string } | null)?.signature
  return {
    inRest: answer.status === 200 ? withdrawal((await answer.json()) as ClaimProof) : undefined,
    inFiles: filed === null ? undefined : withdrawal(JSON.parse(filed)),
    inSql: async (text: string) => (await shown(text)).rowCount,
  }
}

test('what was signed to withdraw, with a time ahead, is public when that time has passed, in REST, SQL and files', async () => {
  const claimant = await stage.claimant()
  const { fid } = claimant
  expect((await post(stage.api, await eip191Claim(stage, claimant))).status).toBe(200)
  stage.clock.now += 60_000
  const timestamp = new Date(stage.clock.now + 840_000).toISOString()
  const withdrawal = await eip191Claim(stage, claimant, { action: 'withdraw', timestamp })
  expect((await post(stage.api, withdrawal, { query: '/withdraw' })).status).toBe(200)
  const { signature } = withdrawal
  const looks: unknown[] = []
  for (const wait of [0, 901_000, 840_000]) {
    stage.clock.now += wait
    const { inRest, inFiles, inSql } = await signedTexts(fid)
    looks.push([inRest === signature, inFiles === signature, await inSql(signature)])
  }
  expect(looks).toEqual([
    [false, false, 0],
    [false, false, 0],
    [true, true, 0],
  ])
})

test('a withdrawal by custody does not fail its check where no hub and no registry was asked yet', async () => {
  const { fid, custody, ...claimant } = await stage.claimant()
  expect((await post(stage.api, await eip191Claim(stage, { fid, custody, ...claimant }))).status).toBe(200)
  stage.clock.now += 1_000
  const words = { action: 'withdraw', signer: custody, address: custody.address } as const
  const body = await eip191Claim(stage, { fid, custody, ...claimant }, words)
  expect((await post(stage.api, body, { query: '/withdraw' })).status).toBe(200)
  stage.clock.now += 17 * 60_000
  const proof = (await (await stage.api.get(`/api/agent/${fid}/proof`)).json()) as ClaimProof
  expect([proof.sources, proof.custody]).toEqual([[], null])
  const outcomes = async (given: ClaimProof) => {
    const lines = await checkOffline(given)
    expect(lines.length).toBeGreaterThan(10)
    return lines.filter(({ outcome }) => outcome !== 'held').map(({ name, outcome }) => `${name}: ${outcome}`)
  }
  const hubs = 'the hubs are named with messages of this proof alone: unknown'
  const ended = 'the claim was ended by who could'
  const message = `${proof.address_proofs[0]?.address}: its message: unknown`
  expect(await outcomes(proof)).toEqual([hubs, `${ended}: unknown`, message])

  const resealed = (change: Partial<ClaimProof>) => {
    const { sha256: _, ...others } = { ...proof, ...change }
    return sealProof(others)
  }
  const statement = { ...proof.ended!.statement!, signature: (proof.statement as { signature: string }).signature }
  const forged = resealed({ ended: { ...proof.ended!, statement: statement as never } })
  expect(await outcomes(forged)).toContain(`${ended}: failed`)
  const other = {
    address: `0x${'1'.repeat(40)}`,
    chain_id: 10,
    contract: `0x${'3'.repeat(40)}`,
    since: null,
    read_at: null,
  }
  expect(await outcomes(resealed({ custody: other }))).toContain(`${ended}: failed`)
  const hash = `0x${'2'.repeat(40)}`
  const hub = { operator: 'hub.example', witness: false, asked_at: proof.claimed_at, standing: 'believed' }
  const source = { ...hub, has: [hash], lacks: [] }
  expect(await outcomes(resealed({ sources: [source] }))).toContain(hubs.replace('unknown', 'failed'))
})
