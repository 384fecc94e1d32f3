import { describe, expect, test } from 'vitest'
import { accountOf } from '../../../devnet/chain/chain.ts'
import { freePort } from '../../../ops/ports.ts'
import { failure } from '../../support/api/api.ts'
import { claimChecks } from '../../support/api/claim-checks.ts'
import { eip191Claim, freshNonce, post } from '../../support/api/claims.ts'

const checks = claimChecks()
const stranger = accountOf('a stranger who signs')
const actions = ['claim', 'withdraw', 'unlist', 'relist'] as const
type Action = (typeof actions)[number]

const send = (action: Action, body: unknown, api = checks.stage.api) =>
  post(api, body, { query: action === 'claim' ? '' : `/${action}` })

/** An API whose hub is out of reach. */
const withoutHub = async () => checks.stage.another({ hubUrl: `http://127.0.0.1:${await freePort()}` })

/** Bodies whose signature is not the address's: of another key, of no form that a key has, over another nonce. */
async function forgeries(action: Action, of = checks.claimant) {
  const body = await eip191Claim(checks.stage, of, { action })
  return [
    await eip191Claim(checks.stage, of, { action, signer: stranger }),
    { ...body, signature: '0xdeadbeef' },
    { ...body, nonce: freshNonce() },
  ]
}

const invalid = { status: 400, error: 'ERR_SIG_INVALID' }

describe.each(actions)('a signature that is not the address’s, over the text to %s', (action) => {
  test('is refused without asking anybody when the index knows the address as a key', async () => {
    await checks.byText()
    const { requests } = checks.stage.hub
    const asked = requests.length
    for (const body of await forgeries(action)) expect(await failure(await send(action, body))).toMatchObject(invalid)
    expect(requests.slice(asked)).toEqual([])
    const api = await checks.stage.another({
      hubUrl: `http://127.0.0.1:${await freePort()}`,
      rpc: `http://127.0.0.1:${await freePort()}`,
    })
    for (const body of await forgeries(action)) {
      expect(await failure(await send(action, body, api))).toMatchObject(invalid)
    }
  })

  test('is invalid, not unverified and no outage, when the index does not know the address', async () => {
    const apis = [checks.stage.api, await withoutHub()]
    const unverified = { ...checks.claimant, account: stranger }
    for (const api of apis) {
      for (const body of await forgeries(action)) {
        expect(await failure(await send(action, body, api))).toMatchObject(invalid)
      }
      const body = await eip191Claim(checks.stage, unverified, { action })
      const junk = { ...body, nonce: freshNonce() }
      expect(await failure(await send(action, junk, api))).toMatchObject(invalid)
    }
  })
})

test('a signature that holds, with the hub away, is an outage', async () => {
  const body = await eip191Claim(checks.stage, checks.claimant)
  expect(await failure(await post(await withoutHub(), body))).toEqual({ status: 500, error: 'ERR_INTERNAL' })
  expect((await post(checks.stage.api, body)).status).toBe(200)
})

test('a contract wallet that the index knows is asked; with its hub away that is an outage', async () => {
  const { fid, privateKey } = checks.claimant
  const { address } = accountOf(`wallet of ${fid}`)
  // Answers every call with the magic value of ERC-1271: any signature is valid.
  await checks.stage.chain.client.setCode({ address, bytecode: '0x631626ba7e60e01b60005260206000f3' })
  checks.stage.hub.state.addVerification(fid, address, { contractChain: 10, privateKey })
  await checks.byText()
  const body = () => eip191Claim(checks.stage, checks.claimant, { address, signer: stranger })
  expect(await failure(await post(await withoutHub(), await body()))).toMatchObject({ status: 500 })
  expect((await post(checks.stage.api, await body())).status).toBe(200)
})
