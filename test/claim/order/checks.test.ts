import { expect, test } from 'vitest'
import { checkOrder } from '../../../api/claim/examination.ts'
import { claimChecks } from '../../support/api/claim-checks.ts'
import { appKeyOf, freshClient, freshNonce, jfsClaim, post, tokenOf } from '../../support/api/claims.ts'

const checks = claimChecks()

/** How a token fails each check, in the order of docs/rules.md 5, and with what it is refused. */
const faults = [
  { at: 'shape', error: 'ERR_PAYLOAD_INVALID' },
  { at: 'method', error: 'ERR_METHOD_UNSUPPORTED' },
  { at: 'FID', error: 'ERR_FID_INVALID' },
  { at: 'decoding', error: 'ERR_JFS_PAYLOAD_INVALID' },
  { at: 'FID of the proof', error: 'ERR_JFS_FID_MISMATCH' },
  { at: 'audience', error: 'ERR_JFS_PAYLOAD_INVALID' },
  { at: 'time', error: 'ERR_SIG_EXPIRED' },
  { at: 'nonce', error: 'ERR_NONCE_USED' },
  { at: 'claim limiter', error: 'ERR_RATE_LIMITED' },
  { at: 'signature', error: 'ERR_SIG_INVALID' },
  { at: 'live state', error: 'ERR_JFS_KEY_INACTIVE' },
] as const

test('these are the checks that the rules name, but for the insert', () => {
  expect([...faults.map(({ at }) => at), 'insert']).toEqual(checkOrder)
})

test.for(['claim', 'withdraw'] as const)(
  'what fails several checks of a proof to %s is refused by the first of them',
  async (action) => {
    const { fid } = checks.claimant
    const send = (body: unknown, client = freshClient()) =>
      post(checks.stage.api, body, { client, query: action === 'claim' ? '' : '/withdraw' })
    const nonce = freshNonce()
    const used = jfsClaim(checks.stage, checks.claimant, { payload: { nonce, action } })
    expect((await send(used)).status).toBe(200)

    const limited = freshClient()
    const strange = appKeyOf('nobody’s key')
    const forged = () =>
      jfsClaim(
        checks.stage,
        { ...checks.claimant, appKey: { ...strange, publicKey: appKeyOf('another').publicKey } },
        { payload: { action } },
      )
    for (let n = 0; n < 10; n++) expect((await send(forged(), limited)).status).toBe(400)

    for (const [first, { error }] of faults.entries()) {
      const fails = (at: (typeof faults)[number]['at']) => faults.findIndex((fault) => fault.at === at) >= first
      const key = fails('signature') ? appKeyOf('another').publicKey : strange.publicKey
      const header = {
        fid: fails('FID of the proof') ? fid + 1 : fid,
        type: fails('decoding') ? 'guess' : 'app_key',
        key,
      }
      const payload = {
        aud: fails('audience') ? 'https://elsewhere.example' : 'https://api.agents.example',
        action,
        fid,
        nonce: fails('nonce') ? nonce : freshNonce(),
        timestamp: new Date(checks.stage.clock.now - (fails('time') ? 3_600_000 : 0)).toISOString(),
      }
      const jfs = tokenOf(strange.secret, header, payload)
      const body = JSON.stringify({ method: fails('method') ? 'guess' : 'jfs', fid: fails('FID') ? 0 : fid, jfs })
      const sent = fails('shape') ? `${body},` : body
      const answer = await send(sent, fails('claim limiter') ? limited : freshClient())
      expect([faults[first]?.at, ((await answer.json()) as { error: string }).error]).toEqual([
        faults[first]?.at,
        error,
      ])
    }
  },
)
