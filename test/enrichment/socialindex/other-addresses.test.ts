import { expect, test } from 'vitest'
import { addressList } from '../../../api/schemas/addresses/addresses.ts'
import { agentAddresses } from '../../../db/queries/addresses/addresses.ts'
import { first, mint, scene, setScenes, verify } from '../../support/chain/one-token.ts'

setScenes()

const solana = '7uFVJ36ZyqcAFGEHCPYNTtDtaSmmNpgzUsBvA72mSjEc'
const shown = async () => {
  const addresses = await agentAddresses(scene.database.pool, 7)
  expect(addressList.parse({ fid: 7, addresses })).toBeDefined()
  return addresses?.map(({ address, indexed }) => ({ address, indexed }))
}

test('a verified address of Solana is shown, from its event until it is removed, and makes nobody an agent', async () => {
  verify(7, first)
  scene.hub.state.addVerification(8, solana, { protocol: 'solana' })
  await mint(first)
  await scene.settle()
  const ethereum = { address: first, indexed: true }
  expect(await shown()).toEqual([ethereum])
  expect(await scene.agent(8)).toBeUndefined()
  scene.hub.state.addVerification(7, solana, { protocol: 'solana' })
  await scene.settle()
  expect(await shown()).toEqual([ethereum, { address: solana, indexed: false }])
  expect(await scene.agent(7)).toMatchObject({ verified_addresses: [first] })
  scene.hub.state.removeVerification(7, solana, 'message', 'solana')
  await scene.settle()
  expect(await shown()).toEqual([ethereum])
})
