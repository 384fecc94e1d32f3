import { afterEach, beforeEach, expect, test } from 'vitest'
import { wallet } from '../../support/chain/rows.ts'
import { type Scene, startScene } from '../../support/chain/scene.ts'

const fids = Array.from({ length: 8 }, (_, index) => index + 1)

let scene: Scene
beforeEach(async () => {
  scene = await startScene()
  scene.register(...fids)
  for (const fid of fids) {
    scene.hub.state.addVerification(fid, wallet(fid))
    await scene.rows.transfer({ chain: 'base', id: fid }, null, wallet(fid), scene.clock.pass(1_000))
  }
  await scene.settle()
})
afterEach(() => scene.stop())

async function bios(): Promise<(string | null)[]> {
  const { rows } = await scene.database.pool.query('select bio from agent order by fid')
  return rows.map(({ bio }) => bio)
}
const waiting = async () =>
  (await scene.database.pool.query("select distinct key::int as fid from due where kind = 'agents'")).rows

test('an agent that cannot be derived keeps nobody else waiting, and follows once it can', async () => {
  const { pool } = scene.database
  await pool.query(`alter table agent add constraint poison check (bio <> 'poison')`)
  const write = (fid: number, bio: string) =>
    pool.query('update social_profile set bio = $2 where fid = $1', [fid, bio])
  for (const fid of fids) await write(fid, fid === 3 ? 'poison' : 'new')
  await expect(scene.job.join()).rejects.toThrow(/^agents: 3 cannot be derived: .*violates check constraint "poison"/)
  expect(await bios()).toEqual(fids.map((fid) => (fid === 3 ? null : 'new')))
  expect(await waiting()).toEqual([{ fid: 3 }])

  await write(5, 'newer')
  scene.clock.pass(60_000)
  await expect(scene.job.join()).rejects.toThrow(/^agents: 3/)
  expect((await bios())[4]).toBe('newer')
  await pool.query('alter table agent drop constraint poison')
  scene.clock.pass(60_000)
  await scene.job.join()
  expect((await bios())[2]).toBe('poison')
  expect(await waiting()).toEqual([])
})

test('a database that is out of reach moves nobody', async () => {
  const { pool } = scene.database
  await pool.query(`insert into due (kind, key) select 'agents', fid from agent`)
  const before = await waiting()
  await pool.query('alter table agent rename to gone')
  await expect(scene.job.join()).rejects.toThrow(/relation "agent" does not exist/)
  await pool.query('alter table gone rename to agent')
  expect(await waiting()).toEqual(before)
  scene.clock.pass(60_000)
  await scene.job.join()
  expect(await waiting()).toEqual([])
})
