import { expect, test } from 'vitest'
import { testDatabase } from '../../support/database.ts'
import { addressOf, insert, seedVerification, seedWallet } from '../../support/seed.ts'
import { bytes, names, ratings, time } from './ratings.ts'

const database = testDatabase()
const { derive, mint, rate, pay, flags } = ratings(database)

/** Each of these holds a registration, from an id on, and rates that of the next. */
async function rateInCircle(round: readonly string[], firstId: number) {
  for (const [n, client] of round.entries()) await mint(firstId + n, client)
  for (const [n, client] of round.entries()) await rate(client, firstId + ((n + 1) % round.length), 10)
}

test('circles of two to six are flagged, not where others rate them too, or beyond', async () => {
  for (const length of [2, 3, 6, 7]) await rateInCircle(names(`round ${length}`, length), 10 * length)
  await derive()
  const first = () => Promise.all([2, 3, 6, 7].map((length) => flags(`round ${length} 0`)))
  expect(await first()).toEqual([['circle'], ['circle'], ['circle'], []])
  await rate('customer', 20, 11)
  await derive()
  expect(await first()).toEqual([[], ['circle'], ['circle'], []])
  await database.pool.query('delete from feedback where client = $1', [bytes(addressOf('customer'))])
  await derive()
  expect(await first()).toEqual([['circle'], ['circle'], ['circle'], []])
})

test('the rating that closes a circle flags all of it, wherever they are on it', async () => {
  const round = names('member', 6)
  for (const [n, client] of round.entries()) await mint(n, client)
  for (const n of [1, 2, 3, 4, 5]) {
    await rate(`member ${n}`, (n + 1) % 6, 10)
    await derive()
  }
  await rate('member 0', 1, 11)
  await derive()
  expect(await Promise.all(round.map(flags))).toEqual(round.map(() => ['circle']))
})

test('who rates more of a circle, or two others, at no cost, stays flagged, not who rates three, or one that it paid', async () => {
  const round = names('member', 6)
  await rateInCircle(round, 1)
  for (const id of [11, 12, 13]) await mint(id, `seller ${id}`)
  await rate('member 0', 4, 11)
  for (const client of round) for (const id of [11, 12]) await rate(client, id, 12)
  await derive()
  const flagged = async () => (await Promise.all(round.map(flags))).map((rules) => rules.join())
  expect(await flagged()).toEqual(Array(6).fill('circle'))
  // What is paid for counts, and so does the third that is not: a critic of many is in no circle with one of them.
  await pay('member 3', 'seller 11', 5, 1_000)
  await rate('member 4', 13, 13)
  await derive()
  expect(await flagged()).toEqual(['circle', 'circle', 'circle', '', '', 'circle'])
})

test('a critic whom the agents that it rated rate back is not flagged, where others rate these too', async () => {
  for (const [id, seller] of ['seller', 'other seller'].entries()) await mint(id + 1, seller)
  for (const [n, client] of ['critic', ...names('user', 4)].entries()) {
    await mint(10 + n, client)
    await rate(client, 1, 10)
  }
  await rate('critic', 2, 11)
  await rate('guest', 2, 11)
  await rate('seller', 10, 20)
  await rate('other seller', 10, 20)
  await derive()
  expect(await flags('critic')).toEqual([])
  // Nor where these were rated back as well: all that leads from one of them to another leads over who did it.
  for (const id of [11, 12, 13, 14]) await rate('seller', id, 21)
  await derive()
  expect(await Promise.all(['critic', ...names('user', 4)].map(flags))).toEqual(Array(5).fill([]))
  // Of who alone rated somebody, and is rated by it, nothing else is known.
  await database.pool.query('delete from feedback where client = any ($1)', [
    [...names('user', 4), 'guest'].map((name) => bytes(addressOf(name))),
  ])
  await derive()
  expect(await flags('critic')).toEqual(['circle'])
  await rate('user 3', 1, 30)
  await rate('guest', 2, 30)
  await derive()
  expect(await flags('critic')).toEqual([])
})

test('a registration whose wallet is changed for one critic is rated by all who rated it before', async () => {
  const { pool } = database
  const name = (wallet: string, block: number) =>
    seedWallet(pool, { id: 1, wallet: addressOf(wallet), block, at: time(block) })
  await mint(1, 'seller')
  await mint(2, 'critic')
  for (const [n, client] of names('user', 4).entries()) await rate(client, 1, 10 + n)
  await name('new wallet', 20)
  await rate('critic', 1, 21)
  await name('another wallet', 22)
  await rate('new wallet', 2, 30)
  await derive()
  expect(await flags('critic')).toEqual([])
})

test('of a circle those are not flagged who paid whom they rated a thousandth of a dollar, all others are', async () => {
  const round = names('member', 6)
  await rateInCircle(round, 1)
  const flagged = async () => (await Promise.all(round.map(flags))).map((rules) => rules.join())
  await pay('member 0', 'member 1', 5, 1)
  await derive()
  expect(await flagged()).toEqual(Array(6).fill('circle'))
  await pay('member 0', 'member 1', 6, 998)
  await pay('member 2', 'member 4', 6, 1_000_000)
  await derive()
  expect(await flagged()).toEqual(Array(6).fill('circle'))
  await pay('member 0', 'member 1', 7, 1)
  await derive()
  expect(await flagged()).toEqual(['', ...Array(5).fill('circle')])
})

test('who pays the wallet of a registration has paid its holder', async () => {
  await rateInCircle(['a', 'b'], 1)
  await seedWallet(database.pool, { id: 2, wallet: addressOf('wallet of b'), block: 5, at: time(5) })
  await pay('a', 'wallet of b', 6, 1_000)
  await derive()
  expect([await flags('a'), await flags('b')]).toEqual([[], ['circle']])
})

test('money that goes round pays for no rating in a circle', async () => {
  await rateInCircle(['a', 'b'], 1)
  await pay('a', 'b', 6, 1_000)
  await derive()
  expect(await flags('a')).toEqual([])
  await insert(database.pool, 'income_ring', { recipient: bytes(addressOf('b')), payer: bytes(addressOf('a')) })
  await derive()
  expect(await flags('a')).toEqual(['circle'])
})

test('who was sent a registration is in no circle by it, until it names a wallet for it before the rating', async () => {
  const { pool } = database
  await mint(1, 'seller')
  await mint(2, 'seller')
  const sent = {
    id: 'base-2-20',
    chain: 'base',
    agent_id: 2,
    from: bytes(addressOf('seller')),
    to: bytes(addressOf('critic')),
    block_number: 20,
    log_index: 0,
    block_timestamp: time(20),
    tx_hash: Buffer.alloc(32),
  }
  await rate('critic', 1, 10)
  await insert(pool, 'registration_transfer', sent)
  await rate('seller', 2, 30)
  await derive()
  expect([await flags('critic'), await flags('seller')]).toEqual([[], []])
  const act = (block: number) =>
    seedWallet(pool, { id: 2, wallet: addressOf('wallet of the critic'), block, logIndex: 1, at: time(block) })
  // What stands in the block of the transfer may be its sender's, and what came behind the rating says nothing of it.
  await act(20)
  await act(40)
  await derive()
  expect(await flags('critic')).toEqual([])
  await act(25)
  await derive()
  expect([await flags('critic'), await flags('seller')]).toEqual([['circle'], ['circle']])
})

test('clients that rate from the wallets of their registrations are in the circle', async () => {
  const { pool } = database
  for (const [id, who] of ['a', 'b'].entries()) {
    await mint(id + 1, `owner ${who}`)
    await seedWallet(pool, { id: id + 1, wallet: addressOf(`wallet ${who}`), block: 5, logIndex: id, at: time(5) })
  }
  await rate('wallet a', 2, 10)
  await rate('wallet b', 1, 10)
  await derive()
  expect([await flags('wallet a'), await flags('wallet b')]).toEqual([['circle'], ['circle']])
})

test('a client rates for the account that verifies its address', async () => {
  const { pool } = database
  const verify = (fid: number, name: string) => seedVerification(pool, { fid, address: addressOf(name) })
  for (const fid of [1, 2, 3]) {
    await mint(fid, `holder ${fid}`)
    await verify(fid, `holder ${fid}`)
    await rate(`rater ${fid}`, 1 + (fid % 3), 10 + fid)
  }
  await derive()
  const flagged = () => Promise.all([1, 2, 3].map((fid) => flags(`rater ${fid}`)))
  expect(await flagged()).toEqual([[], [], []])
  for (const fid of [1, 2, 3]) await verify(fid, `rater ${fid}`)
  await derive()
  expect(await flagged()).toEqual(Array(3).fill(['circle']))
  await pay('rater 1', 'holder 2', 9, 1_000)
  await derive()
  expect(await flagged()).toEqual([[], ['circle'], ['circle']])
  // What an account had given up before it was rated is not its own.
  await pool.query('update verified_address set ended_at = $1 where address = $2', [
    time(11),
    bytes(addressOf('rater 2')),
  ])
  await derive()
  expect(await flagged()).toEqual([[], [], []])
})

test('circles are of so many accounts, whichever address of these rates', async () => {
  const { pool } = database
  const rater = (fid: number, n: number) => `rater ${n} of ${fid}`
  const addresses = [0, 1, 2, 3, 4]
  for (const fid of [1, 2]) {
    await mint(fid, `holder ${fid}`)
    await seedVerification(pool, { fid, address: addressOf(`holder ${fid}`) })
    for (const n of addresses) await rate(rater(fid, n), 3 - fid, 10 + n)
  }
  for (const fid of [1, 2])
    for (const n of addresses) await seedVerification(pool, { fid, address: addressOf(rater(fid, n)) })
  await derive()
  const flagged = () => Promise.all([1, 2].flatMap((fid) => addresses.map((n) => flags(rater(fid, n)))))
  expect(await flagged()).toEqual(Array(10).fill(['circle']))
  // What was an account's when it was rated is not another one since.
  await pool.query('update verified_address set ended_at = $1', [time(20)])
  await derive()
  expect(await flagged()).toEqual(Array(10).fill(['circle']))
})

test('eight on circles together are flagged, and nine once two of them are of one account', async () => {
  for (const many of [8, 9]) {
    const round = names(`of ${many}`, many)
    for (const [n, client] of round.entries()) await mint(10 * many + n, client)
    for (const [n, client] of round.entries())
      for (const next of [1, 2]) await rate(client, 10 * many + ((n + next) % many), 10)
  }
  const flagged = () => Promise.all(['of 8 1', 'of 9 1'].map(flags))
  await derive()
  expect(await flagged()).toEqual([['circle'], []])
  for (const name of ['of 9 0', 'of 9 4']) await seedVerification(database.pool, { fid: 1, address: addressOf(name) })
  await derive()
  expect(await flagged()).toEqual([['circle'], ['circle']])
  // An account that gave them up before is one still, and its verifications lead to no rating. Of the first pair one is rated on the
  // way there, of the other both rate on the way back.
  for (const pair of [
    ['of 9 0', 'of 9 4'],
    ['of 9 0', 'of 9 8'],
  ]) {
    await database.pool.query('delete from verified_address')
    await derive()
    expect(await flagged()).toEqual([['circle'], []])
    await database.pool.query(
      'insert into verified_address (fid, address, verified_at, ended_at) select 2, unnest($1::bytea[]), $2, $3',
      [pair.map((name) => bytes(addressOf(name))), time(1), time(5)],
    )
    await derive()
    expect(await flagged()).toEqual([['circle'], ['circle']])
  }
})
