import { expect, test } from 'vitest'
import { sitesOf } from '../../../derive/edges.ts'
import { identity } from '../../../enrichment/identity/source.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { mintTo, startUpstreamJob, type UpstreamJob } from '../../enrichment/upstreams/job.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'
import { addressOf, birth, hashOf, insert, seedChainState, seedSent, seedSettlement } from '../../support/seed.ts'
import { profileOf } from './job.ts'

const ada = 1
const bob = 2
const cyd = 3
const stranger = 9
const walletOf = (fid: number) => addressOf(`wallet of ${fid}`)
const bytes = (address: string) => Buffer.from(address.slice(2), 'hex')
const clock = createClock('2026-06-01T00:00:00Z')
const later = new Date('2026-05-01T00:00:00.000Z')

const database = testDatabase()
let job: UpstreamJob

async function start() {
  job = startUpstreamJob({ database, clock, url: 'http://127.0.0.1:9', create: identity })
  await job.join()
  return job
}

type Edge = { kind: string; direction: string; fid: number; weight: number }
async function tiesOf(fid: number, kind?: string) {
  const { agent_edges } = (await profileOf(database.pool, fid)) as { agent_edges: Edge[] }
  return agent_edges.filter((edge) => kind === undefined || edge.kind === kind)
}

async function addFeedback(tokenId: number, client: string, index: number, revoked = false) {
  await insert(database.pool, 'feedback', {
    id: `${tokenId}-${client}-${index}`,
    chain: 'base',
    agent_id: tokenId,
    client: bytes(client),
    feedback_index: index,
    value: 5,
    value_decimals: 0,
    tag1: '',
    tag2: '',
    endpoint: '',
    feedback_uri: '',
    feedback_hash: bytes(hashOf('feedback')),
    block_number: 200 + index,
    log_index: 0,
    block_timestamp: index === 1 ? birth : later,
    tx_hash: bytes(hashOf(`feedback ${index}`)),
    revoked_block: revoked ? 300 : null,
  })
}

test('agents are linked by what they pay, say, follow, own and share, seen from both ends', async () => {
  const { pool } = database
  const shared = addressOf('shared')
  await mintTo(pool, { fid: ada, addresses: [walletOf(ada), shared] })
  await mintTo(pool, { fid: bob, addresses: [walletOf(bob)] })
  await mintTo(pool, { fid: cyd, addresses: [walletOf(cyd)] })
  await insert(pool, 'verified_address', { fid: cyd, address: bytes(shared), verified_at: later })

  const payment = { chain: 'base', recipient: walletOf(ada), amount: 1_500_000n } as const
  await seedSettlement(pool, { ...payment, block: 1, payer: walletOf(bob), at: birth })
  await seedSettlement(pool, { ...payment, block: 2, payer: walletOf(bob), at: later })
  await seedSettlement(pool, { ...payment, block: 3, payer: shared }) // her own address
  await seedSettlement(pool, { ...payment, block: 4, payer: addressOf('somebody') })
  await seedChainState(pool, { chain: 'base', indexed: 10, finalized: 10 })
  while ((await rollUpSettlements({ pool })) > 0);
  await addFeedback(ada * 100, walletOf(bob), 1)
  await addFeedback(ada * 100, walletOf(bob), 2)
  await addFeedback(ada * 100, walletOf(bob), 3, true)
  await addFeedback(ada * 100, walletOf(ada), 1)
  await insert(pool, 'social_follow', { fid: ada, targets: [bob, cyd, stranger], followed_at: [birth, birth, birth] })
  await insert(pool, 'social_follow', { fid: bob, targets: [ada], followed_at: [later] })
  await pool.query('update registration set agent_wallet = $1 where agent_id = any ($2)', [
    bytes(addressOf('till')),
    [bob * 100, cyd * 100],
  ])
  for (const [fid, endpoint] of [
    [ada, 'https://ada.hosting.example/mcp'],
    [bob, 'https://api.team.xyz/a2a'],
    [cyd, 'https://www.team.xyz'],
  ] as const) {
    const services = JSON.stringify([{ name: 'web', endpoint, version: null }])
    const document = { uri_status: 'ok', services, updated_at: birth }
    await insert(pool, 'registration_document', { chain: 'base', agent_id: fid * 100, ...document })
  }
  await start()
  expect(await job.edges()).toBeGreaterThan(0)

  const nothing = { chain: null, amount_usdc: null, claimed: false, handle: null }
  expect((await profileOf(pool, ada)).agent_edges).toEqual([
    {
      ...nothing,
      kind: 'follows',
      direction: 'both',
      fid: bob,
      weight: 1,
      first_seen_at: birth.toISOString(),
      last_seen_at: later.toISOString(),
    },
    expect.objectContaining({ kind: 'follows', direction: 'out', fid: cyd }),
    expect.objectContaining({ kind: 'feedback', direction: 'in', fid: bob, chain: 'base', weight: 2 }),
    {
      ...nothing,
      kind: 'settlement',
      direction: 'in',
      fid: bob,
      chain: 'base',
      weight: 2,
      amount_usdc: 3,
      first_seen_at: birth.toISOString(),
      last_seen_at: later.toISOString(),
    },
    expect.objectContaining({ kind: 'shared_owner', direction: 'both', fid: cyd, first_seen_at: later.toISOString() }),
  ])
  expect(await tiesOf(bob)).toMatchObject([
    { kind: 'follows', direction: 'both', fid: ada },
    { kind: 'feedback', direction: 'out', fid: ada },
    { kind: 'settlement', direction: 'out', fid: ada, weight: 2, amount_usdc: 3 },
    { kind: 'shared_wallet', direction: 'both', fid: cyd },
    { kind: 'shared_host', direction: 'both', fid: cyd },
  ])
  expect((await tiesOf(cyd)).map(({ kind, direction, fid }) => `${kind} ${direction} ${fid}`)).toEqual([
    'follows in 1',
    'shared_owner both 1',
    'shared_wallet both 2',
    'shared_host both 2',
  ])
})

test('deriving the same edges again writes nothing', async () => {
  const rows = async () => (await database.pool.query('select xmin::text, * from agent_edge order by 2, 3, 4')).rows
  const before = await rows()
  await start()
  expect(await job.edges()).toBe(0)
  expect(await rows()).toEqual(before)
})

test('a registration that a stranger sent makes no edge to those whose host it names, or who judged it', async () => {
  const { pool } = database
  const before = await tiesOf(ada)
  await addFeedback(9_999, walletOf(cyd), 1)
  await seedSent(pool, { chain: 'base', id: 9_999, owner: walletOf(ada), uri: '' })
  const services = JSON.stringify([{ name: 'web', endpoint: 'https://www.team.xyz', version: null }])
  await insert(pool, 'registration_document', {
    chain: 'base',
    agent_id: 9_999,
    uri_status: 'ok',
    services,
    updated_at: birth,
  })
  await start()
  await job.edges()
  expect(await tiesOf(ada)).toEqual(before)
  await pool.query(`update registration set updated_block = 101 where agent_id = 9999`)
  await start()
  await job.edges()
  expect(await tiesOf(ada, 'shared_host')).toMatchObject([{ fid: bob }, { fid: cyd }])
  expect(await tiesOf(ada, 'feedback')).toMatchObject([{ fid: bob }, { fid: cyd }])
  await pool.query(`update registration set updated_block = 100 where agent_id = 9999`)
  await pool.query(`delete from feedback where agent_id = 9999`)
  await start()
  await job.edges()
})

test('a token that goes from one agent to another edges them', async () => {
  const { pool } = database
  await insert(pool, 'registration_transfer', {
    id: 'base-sale',
    chain: 'base',
    agent_id: bob * 100,
    from: bytes(walletOf(bob)),
    to: bytes(walletOf(ada)),
    block_number: 500,
    log_index: 0,
    block_timestamp: later,
    tx_hash: bytes(hashOf('sale')),
  })
  await start()
  await job.edges()
  expect(await tiesOf(bob, 'transfer')).toMatchObject([
    { direction: 'out', fid: ada, chain: 'base', weight: 1, first_seen_at: later.toISOString() },
  ])
  expect(await tiesOf(ada, 'transfer')).toMatchObject([{ direction: 'in', fid: bob }])
})

test('edges end with what made them, and with the agent at the other end', async () => {
  const { pool } = database
  await pool.query('delete from social_follow')
  await pool.query(`update feedback set revoked_block = 400, revoked_at = now()`)
  await pool.query('update verified_address set verified_at = $2, ended_at = $3 where fid = $1', [
    cyd,
    new Date('2026-02-01T00:00:00Z'),
    birth,
  ])
  await start()
  await job.edges()
  expect(await profileOf(pool, cyd)).toBeUndefined()
  expect((await tiesOf(ada)).map(({ kind }) => kind)).toEqual(['settlement', 'transfer'])
  const { rows } = await pool.query('select from agent_edge where fid = $1 or peer = $1', [cyd])
  expect(rows).toEqual([])
})

test('feedback from the wallet of an agent’s token is the agent’s; from a wallet that both use it is nobody’s', async () => {
  const { pool } = database
  const judge = 11
  const judged = 12
  await mintTo(pool, { fid: judge, addresses: [walletOf(judge)] })
  await mintTo(pool, { fid: judged, addresses: [walletOf(judged)] })
  await addFeedback(judged * 100, addressOf('purse'), 1)
  await addFeedback(judged * 100, walletOf(judge), 1)
  const setWallet = (fid: number, name: string) =>
    pool.query('update registration set agent_wallet = $1 where agent_id = $2', [bytes(addressOf(name)), fid * 100])
  await setWallet(judge, 'purse')
  await start()
  await job.edges()
  expect(await tiesOf(judged, 'feedback')).toMatchObject([{ direction: 'in', fid: judge, weight: 2 }])
  expect(await tiesOf(judge, 'feedback')).toMatchObject([{ direction: 'out', fid: judged, weight: 2 }])
  await setWallet(judged, 'purse')
  await start()
  await job.edges()
  expect(await tiesOf(judged, 'feedback')).toMatchObject([{ direction: 'in', fid: judge, weight: 1 }])
})

test('of many edges a hundred are shown, by kind, then by weight, then by FID', async () => {
  const { pool } = database
  const fids = Array.from({ length: 130 }, (_, index) => 1_000 + index)
  for (const fid of fids) await mintTo(pool, { fid, addresses: [walletOf(fid)] })
  const followed_at = fids.map(() => birth)
  await insert(pool, 'social_follow', { fid: ada, targets: [...fids].reverse(), followed_at })
  await start()
  await job.edges()
  const edges = await tiesOf(ada)
  expect(edges.map(({ kind, fid }) => [kind, fid])).toEqual(fids.slice(0, 100).map((fid) => ['follows', fid]))
})

test('a site is the registrable domain of a host; places with many tenants are none', () => {
  expect(
    sitesOf(['https://a.team.xyz/x', 'http://team.xyz', 'https://one.vercel.app', 'https://two.vercel.app']),
  ).toEqual(['one.vercel.app', 'team.xyz', 'two.vercel.app'])
  const none = [
    'https://github.com/x',
    'https://127.0.0.1:8080',
    'ada.eth',
    'mailto:a@team.xyz',
    'https://vercel.app',
    '',
  ]
  expect(sitesOf(none)).toEqual([])
})
