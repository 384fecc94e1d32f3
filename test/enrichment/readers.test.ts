import { afterEach, beforeEach, expect, test } from 'vitest'
import { refreshCounts } from '../../enrichment/periodic/rollup.ts'
import { runJoin } from '../derive/passes.ts'
import { followedFids, type History, modelAgents, storedAgents } from '../support/agent-model.ts'
import { wallet } from '../support/chain/rows.ts'
import { type Scene, startScene } from '../support/chain/scene.ts'

const fids = [1, 2, 3, 4, 5, 6, 7, 8]
const turns = 240
const workers = 3
const token = (fid: number) => ({ chain: fid % 2 ? 'base' : 'gnosis', id: fid }) as const

let scene: Scene
beforeEach(async () => {
  scene = await startScene()
  for (const fid of fids) await scene.rows.transfer(token(fid), null, wallet(fid), scene.clock.pass(1_000))
})
afterEach(() => scene.stop())

test('while addresses and tokens move and several workers join, every reader sees whole agents', async () => {
  const { pool } = scene.database
  const options = { pool, now: scene.clock.now, settlementOverloads: 'spec', lookups: false } as const
  let moving = true
  let seen = 0
  let incoherent = 0

  const reader = async () => {
    while (moving) {
      for (const { agent_status, chains, verified_addresses, holdings } of await storedAgents(pool)) {
        const current = holdings.filter(({ reason }) => reason === null)
        const whole =
          (agent_status === 'active') === current.length > 0 &&
          [...new Set(current.map(({ chain }) => chain))].sort().join() === chains.toSorted().join() &&
          current.every(({ held_by }) => verified_addresses.includes(held_by)) &&
          holdings.every((one) => one.reason !== 'verification_removed' || !verified_addresses.includes(one.held_by))
        seen++
        if (!whole) incoherent++
      }
    }
  }
  const worker = async () => {
    while (moving) {
      await runJoin(options)
      await refreshCounts(options)
    }
  }
  const world = async () => {
    for (let turn = 0; turn < turns; turn++) {
      const fid = fids[turn % fids.length]!
      const at = scene.clock.pass(1_000)
      const verified = turn % 16 < 8
      const values = [fid, Buffer.from(wallet(fid).slice(2), 'hex'), at]
      await (verified
        ? pool.query('insert into verified_address (fid, address, verified_at) values ($1, $2, $3)', values)
        : pool.query(
            'update verified_address set ended_at = $3 where fid = $1 and address = $2 and ended_at is null',
            values,
          ))
      if (turn % 5 === 0) await scene.rows.transfer(token(fid), wallet(fid), wallet(fid + 1), at)
      if (turn % 5 === 1) await scene.rows.undo(token(fid))
    }
    moving = false
  }
  await Promise.all([world(), reader(), reader(), ...Array.from({ length: workers }, worker)])
  while ((await runJoin(options)) > 0);

  expect(seen).toBeGreaterThan(0)
  expect(incoherent).toBe(0)
  expect(await storedAgents(pool)).toEqual(modelAgents(await storedHistory()))
  expect(await followedFids(pool)).toEqual((await storedAgents(pool)).map(({ fid }) => fid))
})

/** Stored rows of the history: what the sources said, without what is derived from it. */
async function storedHistory(): Promise<History> {
  const { pool } = scene.database
  const { rows: transfers } = await pool.query(
    `select chain, agent_id, '0x' || encode("from", 'hex') as from, '0x' || encode("to", 'hex') as to,
            block_number as block, block_timestamp as at
       from registration_transfer order by block_number`,
  )
  const { rows: verifications } = await pool.query(
    `select fid, '0x' || encode(address, 'hex') as address, verified_at, ended_at from verified_address`,
  )
  return {
    transfers: transfers.map(({ chain, agent_id, at, ...rest }) => {
      return { token: { chain, id: agent_id }, at: at.getTime(), ...rest }
    }),
    verifications: verifications.map(({ fid, address, verified_at, ended_at }) => {
      return { fid, address, verifiedAt: verified_at.getTime(), endedAt: ended_at?.getTime() ?? null }
    }),
    claims: [],
  }
}
