import { expect, test } from 'vitest'
import { registeredAddresses } from '../../../db/queries/sources/registration-documents.ts'
import {
  first,
  mint,
  minute,
  move,
  scene,
  second,
  setScenes,
  stranger,
  token,
  verify,
} from '../../support/chain/one-token.ts'
import { seedWallet } from '../../support/seed.ts'

setScenes()

const unsolicited = async () =>
  (await scene.database.pool.query('select unsolicited from agent_holding where reason is null')).rows.map(
    (row) => row.unsolicited,
  )

test('a token that a stranger sent stays unsolicited when it is passed on between own addresses', async () => {
  verify(7, first)
  verify(7, second)
  await mint(stranger)
  await move(stranger, first)
  await move(first, second)
  const block = await move(second, first)
  await scene.settle()
  expect(await unsolicited()).toEqual([true])

  // Something was set in between.
  await seedWallet(scene.database.pool, { id: token.id, wallet: second, block: block - 1, at: minute() })
  verify(7, second)
  await scene.settle()
  expect(await unsolicited()).toEqual([false])
})

test('a token that was minted for oneself is one’s own at every own address', async () => {
  verify(7, first)
  verify(7, second)
  await mint(first)
  await move(first, second)
  await scene.settle()
  expect(await unsolicited()).toEqual([false])
})

test('a token that a stranger sent links no host before something is set, though passed on between own addresses', async () => {
  await mint(stranger)
  await move(stranger, first)
  await move(first, second)
  await scene.database.pool.query(`update registration set agent_uri = 'https://shop.example/card.json'`)
  const linked = async () => {
    const found = await registeredAddresses(scene.database.pool, [first, second], 'shop.example')
    return found.map(({ by }) => [...by].sort())
  }
  expect(await linked()).toEqual([])
  await scene.database.pool.query('update registration set updated_block = updated_block + 1')
  expect(await linked()).toEqual([[second]])
})
