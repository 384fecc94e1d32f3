import { expect, test } from 'vitest'
import { hour } from '../../../ops/time.ts'
import { first, mint, minute, scene, second, setScenes, verify } from '../../support/chain/one-token.ts'

setScenes()

test('an account with a claim is read every six hours, one without every day', async () => {
  verify(7, first)
  verify(8, second)
  await mint(first)
  await scene.rows.transfer({ chain: 'base', id: 1 }, null, second, minute())
  await scene.database.pool.query(
    `insert into claim (fid, method, nonce, proof, proof_sha256, signer, received_at, claimed_at, verified_addresses)
     values (7, 'jfs', 'nonce', '{}', '', '', $1, $1, '{}')`,
    [minute()],
  )
  await scene.settle()
  const { rows } = await scene.database.pool.query(
    "select subject, due_at from source_state where source = 'socialindex' order by subject",
  )
  const [claimed, other] = rows.map(({ due_at }) => due_at.getTime() - scene.clock.now().getTime())
  expect(claimed).toBeGreaterThan(4 * hour)
  expect(claimed).toBeLessThanOrEqual(6 * hour)
  expect(other).toBeGreaterThan(20 * hour)
})
