import { beforeEach, describe, expect, test } from 'vitest'
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
import { wallet } from '../../support/chain/rows.ts'

setScenes()

describe('an agent is listed', () => {
  test('by what its addresses own, never by a wallet that a token names', async () => {
    verify(7, first)
    await mint(stranger)
    await scene.database.pool.query('update registration set agent_wallet = $1', [Buffer.from(first.slice(2), 'hex')])
    await scene.settle()
    expect(await scene.agent(7)).toBeUndefined()
  })

  test('at the later of both moments when its address verified first', async () => {
    verify(7, first)
    const block = await mint(first)
    const mintedAt = scene.clock.now().getTime()
    await scene.settle()
    expect(await scene.agent(7)).toMatchObject({
      agent_status: 'active',
      chains: ['base'],
      verified_addresses: [first],
      claimed: false,
      registered_at: mintedAt,
      listed_at: mintedAt,
      holdings: [{ agent_id: '0', held_by: first, acquired_block: block, reason: null }],
    })
    expect(await scene.agent(8)).toBeUndefined()
  })

  test('at the verification when the token came first', async () => {
    await mint(first)
    const mintedAt = scene.clock.now().getTime()
    await scene.settle()
    expect(await scene.agent(7)).toBeUndefined()
    const verifiedAt = verify(7, first)
    await scene.settle()
    expect(await scene.agent(7)).toMatchObject({ registered_at: mintedAt, listed_at: verifiedAt })
  })

  test('at the second verification when the first had ended before the token came', async () => {
    verify(7, first)
    await scene.settle()
    scene.hub.state.removeVerification(7, first)
    await scene.settle()
    await mint(first)
    await scene.settle()
    expect(await scene.agent(7)).toBeUndefined()
    const again = verify(7, first)
    await scene.settle()
    expect(await scene.agent(7)).toMatchObject({ agent_status: 'active', listed_at: again })
  })

  test('as historical, at the verification, when the token had been sold before it', async () => {
    await mint(first)
    await move(first, stranger)
    const verifiedAt = verify(7, first)
    await scene.settle()
    expect(await scene.agent(7)).toMatchObject({
      agent_status: 'historical',
      chains: [],
      listed_at: verifiedAt,
      holdings: [{ reason: 'transfer', transferred_to: stranger }],
    })
  })

  test('with the profile of its account, read at once', async () => {
    scene.hub.state.setProfile(7, { username: 'ada', displayName: 'Ada\u0000 L.', bio: 'counts\ud800', pfp: '' })
    verify(7, first)
    await mint(first)
    await scene.settle()
    const { rows } = await scene.database.pool.query('select handle, display_name, bio, pfp_url, search from agent')
    expect(rows).toEqual([
      { handle: 'ada', display_name: 'Ada\ufffd L.', bio: 'counts\ufffd', pfp_url: null, search: 'ada\nada\ufffd l.' },
    ])
  })

  test('never by a custody address, an auth address or a Solana verification', async () => {
    scene.hub.state.addAccount({ fid: 9, custody: wallet(90), authAddresses: [wallet(91)] })
    scene.hub.state.addVerification(9, '7uFVJ36ZyqcAFGEHCPYNTtDtaSmmNpgzUsBvA72mSjEc', { protocol: 'solana' })
    await mint(wallet(90))
    await scene.rows.transfer({ chain: 'celo', id: 1 }, null, wallet(91), minute())
    await scene.settle()
    expect(await scene.agent(9)).toBeUndefined()
    expect((await scene.database.pool.query('select from verified_address')).rowCount).toBe(0)
  })
})

describe('a token', () => {
  beforeEach(async () => {
    verify(7, first)
    await mint(first)
    await scene.settle()
  })

  test('sold to an agent makes one historical, the other active, and names it', async () => {
    verify(8, second)
    const block = await move(first, second)
    const at = scene.clock.now().getTime()
    await scene.settle()
    expect(await scene.agent(8)).toMatchObject({ agent_status: 'active', chains: ['base'] })
    expect(await scene.agent(7)).toMatchObject({
      agent_status: 'historical',
      chains: [],
      holdings: [{ released_block: block, released_at: at, transferred_to: second, to_fid: 8, reason: 'transfer' }],
    })
  })

  test('sold and bought back is a record again, and its past stays', async () => {
    await move(first, stranger)
    await scene.settle()
    await move(stranger, first)
    await scene.settle()
    const agent = await scene.agent(7)
    expect(agent).toMatchObject({ agent_status: 'active', holdings: [{ reason: 'transfer' }, { reason: null }] })
  })

  test('burned is history without a receiver', async () => {
    await move(first, null)
    await scene.settle()
    expect(await scene.agent(7)).toMatchObject({
      agent_status: 'historical',
      holdings: [{ reason: 'burn', transferred_to: null, to_fid: null }],
    })
  })

  test('sent to the address that has it has not moved', async () => {
    const before = await scene.agent(7)
    await move(first, first)
    await scene.settle()
    expect(await scene.agent(7)).toEqual(before)
  })

  test('undone by a reorg takes the agent out of the index, and its return brings it back as it was', async () => {
    const before = await scene.agent(7)
    await scene.rows.undo(token)
    await scene.settle()
    expect(await scene.agent(7)).toBeUndefined()
    const { rows } = await scene.database.pool.query('select kind from agent_change order by seq desc limit 1')
    expect(rows).toEqual([{ kind: 'delist' }])
    expect((await scene.database.pool.query(`select from source_state where subject = 'fid:7'`)).rowCount).toBe(0)
    await scene.rows.transfer(token, null, first, new Date(before!.holdings[0]!.acquired_at))
    await scene.settle()
    expect(await scene.agent(7)).toMatchObject({ agent_status: 'active', listed_at: before?.listed_at })
  })
})
