import { beforeEach, describe, expect, test } from 'vitest'
import type { Removal } from '../../devnet/hub/verifications.ts'
import { first, mint, minute, move, scene, second, setScenes, stranger, verify } from '../support/chain/one-token.ts'

setScenes()

describe('a verification', () => {
  let listedAt: number
  beforeEach(async () => {
    verify(7, first)
    await mint(first)
    listedAt = scene.clock.now().getTime()
    await scene.settle()
  })

  test.each<Removal>(['message', 'revoke', 'prune', 'merge'])(
    'ended by %s ends the holding, and its return brings it back',
    async (how) => {
      const endedAt = minute().getTime()
      scene.hub.state.removeVerification(7, first, how)
      await scene.settle()
      expect(await scene.agent(7)).toMatchObject({
        agent_status: 'historical',
        chains: [],
        verified_addresses: [],
        listed_at: listedAt,
        holdings: [
          { reason: 'verification_removed', released_at: endedAt, released_block: null, transferred_to: null },
        ],
      })
      verify(7, first)
      await scene.settle()
      expect(await scene.agent(7)).toMatchObject({
        agent_status: 'active',
        listed_at: listedAt,
        holdings: [{ reason: null, released_at: null }],
      })
      const { rows } = await scene.database.pool.query(
        'select ended_at is null as live from verified_address order by 1',
      )
      expect(rows).toEqual([{ live: false }, { live: true }])
    },
  )

  test('that ended before the token was sold ends the holding; made again, the sale does', async () => {
    scene.hub.state.removeVerification(7, first)
    await scene.settle()
    await move(first, stranger)
    await scene.settle()
    expect(await scene.agent(7)).toMatchObject({ holdings: [{ reason: 'verification_removed', transferred_to: null }] })
    verify(7, first)
    await scene.settle()
    expect(await scene.agent(7)).toMatchObject({
      agent_status: 'historical',
      holdings: [{ reason: 'transfer', transferred_to: stranger }],
    })
  })

  test('moved to another FID moves the record and its settlements', async () => {
    await scene.rows.settle('base', first, minute())
    await scene.job.counts()
    minute()
    scene.hub.state.moveVerification(first, 7, 8)
    await scene.settle()
    await scene.job.counts()
    expect(await scene.agent(7)).toMatchObject({ agent_status: 'historical', verified_addresses: [] })
    expect(await scene.agent(8)).toMatchObject({ agent_status: 'active', verified_addresses: [first] })
    const { rows } = await scene.database.pool.query('select settlements_all from agent order by fid')
    expect(rows).toEqual([{ settlements_all: 0 }, { settlements_all: 1 }])
  })

  test('of one address by two FIDs lists the record under both', async () => {
    verify(8, first)
    await scene.settle()
    expect(await scene.agent(7)).toMatchObject({ agent_status: 'active', chains: ['base'] })
    expect(await scene.agent(8)).toMatchObject({ agent_status: 'active', chains: ['base'] })
  })

  test('made again without an end stays live, with its new time', async () => {
    const again = verify(7, first)
    await scene.settle()
    expect(await scene.agent(7)).toMatchObject({ agent_status: 'active', listed_at: listedAt })
    const { rows } = await scene.database.pool.query('select verified_at from verified_address where ended_at is null')
    expect(rows).toEqual([{ verified_at: new Date(again) }])
  })
})

describe('a claim', () => {
  const claim = async (fid: number, method: string, at: Date) => {
    await scene.database.pool.query(
      `insert into claim (fid, method, nonce, proof, proof_sha256, signer, received_at, claimed_at, verified_addresses)
       values ($1, $2, $2, '{}', '', '', $3, $3, '{}')`,
      [fid, method, at],
    )
  }

  test('without tokens makes a claimed-only agent, listed at the claim', async () => {
    const at = minute()
    await claim(8, 'jfs', at)
    scene.hub.state.setProfile(8, { username: 'bob' })
    await scene.settle()
    expect(await scene.agent(8)).toMatchObject({
      agent_status: 'claimed-only',
      claimed: true,
      claim_method: 'jfs',
      registered_at: at.getTime(),
      listed_at: at.getTime(),
      holdings: [],
    })
    const { rows } = await scene.database.pool.query('select handle from agent')
    expect(rows).toEqual([{ handle: 'bob' }])
  })

  test('keeps its first time and shows its newest method', async () => {
    const at = minute()
    await claim(8, 'jfs', at)
    await claim(8, 'eip191', minute())
    await scene.settle()
    const { rows } = await scene.database.pool.query('select claim_method, claimed_at from agent')
    expect(rows).toEqual([{ claim_method: 'eip191', claimed_at: at }])
  })

  test('decides which of two agents that verify an address a sold token went to', async () => {
    scene.register(9)
    verify(7, first)
    await mint(first)
    verify(8, second)
    verify(9, second)
    await move(first, second)
    await scene.settle()
    expect(await scene.agent(7)).toMatchObject({ holdings: [{ to_fid: 9 }] }) // the newest verification
    await claim(8, 'jfs', minute())
    await scene.settle()
    expect(await scene.agent(7)).toMatchObject({ holdings: [{ to_fid: 8 }] })
  })
})
