import { afterAll, beforeAll, expect, test } from 'vitest'
import { readChains, registriesOf } from '../../../chains.file.ts'
import { withProofs } from '../../../export/whole-proofs.ts'
import type { ClaimProof } from '../../../trust/proof/proof.ts'
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
  const terms = { serviceName: 'agent-directory', siteUrl, baseUrl, registries: registriesOf(readChains({ env: {} })) }
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
