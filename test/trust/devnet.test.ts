import { expect, test } from 'vitest'
import { HubState } from '../../devnet/hub/state.ts'
import { appKeyOf, walletOf } from '../../devnet/world/keys.ts'
import { readHubMessage } from '../../trust/hub-message.ts'
import { judgeVerification } from '../../trust/verdict.ts'

const wallet = walletOf('seed', 'agent')
const judge = (message: unknown) =>
  judgeVerification(readHubMessage(message), { fid: 7, address: wallet.address, now: new Date() }, { key: 'held' })

function account(appKey?: ReturnType<typeof appKeyOf>) {
  const state = new HubState()
  state.addAccount({ fid: 7, custody: wallet.address, ...(appKey ? { appKey } : {}) })
  return state
}

test.each([false, true])('the local world signs its verifications as mainnet does (old body: %s)', async (oldBody) => {
  const message = account(appKeyOf('seed', '7')).addVerification(7, wallet.address, {
    privateKey: wallet.privateKey,
    oldBody,
  })
  expect((await judge(message)).verdict).toBe('proven')
})

test('a verification of an address whose key the local world does not have is stated', async () => {
  expect((await judge(account(appKeyOf('seed', '7')).addVerification(7, wallet.address))).verdict).toBe('stated')
  expect((await judge(account().addVerification(7, wallet.address, { privateKey: wallet.privateKey }))).verdict).toBe(
    'stated',
  )
})
