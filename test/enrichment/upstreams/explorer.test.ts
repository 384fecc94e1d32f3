import { expect, onTestFinished, test } from 'vitest'
import { startExplorer } from '../../../devnet/upstreams/explorer.ts'
import { explorer, openLabels } from '../../../enrichment/explorer/source.ts'
import { profileOf } from '../../derive/agents/job.ts'
import { type Canned, serveCanned } from '../../doubles/canned.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'
import { fixture } from '../../support/fixture.ts'
import { addressOf } from '../../support/seed.ts'
import { mintTo, startUpstreamJob, stateOf } from './job.ts'

const database = testDatabase()

const clock = createClock('2026-06-01T00:00:00Z')
const arbitrum = '42161'
const day = 86_400_000

async function startDouble() {
  const double = await startExplorer()
  onTestFinished(double.stop)
  return double
}

test('a recorded answer gives the agent its tag, its name and one change', async () => {
  const { pool } = database
  const recorded = fixture('sources/explorer/blockscout.metadata.outbox4.json')
  const [address] = Object.keys(recorded.addresses) as [string]
  const server = await serveCanned((_, query) => ({
    body: query.get('chainId') === arbitrum ? recorded : { addresses: {} },
  }))
  onTestFinished(server.stop)
  const job = startUpstreamJob({ database, clock, url: server.url, create: explorer })
  await mintTo(pool, { fid: 1, addresses: [address.toLowerCase()] })
  await job.join()
  expect(await profileOf(pool, 1)).toMatchObject({ oli: null, oli_tags: [], last_explorer_at: null })

  expect(await job.read()).toEqual(['ok'])
  await job.join()
  expect(await profileOf(pool, 1)).toMatchObject({
    oli: 'Arbitrum: Outbox 4',
    last_explorer_at: clock.now().toISOString(),
    last_enriched_at: clock.now().toISOString(),
    oli_tags: [
      {
        address: address.toLowerCase(),
        chain: 'arbitrum',
        slug: 'arbitrum-outbox-4',
        name: 'Arbitrum: Outbox 4',
        tag_type: 'name',
        ordinal: 10,
        meta: {},
        source: 'blockscout',
        attester: null,
        fetched_at: clock.now().toISOString(),
      },
    ],
  })
  const { rows } = await pool.query(`select search like '%outbox 4%' as found from agent where fid = 1`)
  expect(rows).toEqual([{ found: true }])
  expect((await pool.query('select kind from agent_change where fid = 1')).rows).toHaveLength(2) // listed, tagged
})

test('the best tag is a name, then a protocol, a generic one, a classifier; of several the highest ordinal', async () => {
  const { pool } = database
  const double = await startDouble()
  const recorded = fixture('sources/explorer/blockscout.token-holder-with-metadata-tags.json')
  const address = addressOf('exchange')
  for (const tag of recorded.address.metadata.tags) double.addTag(address, 8453, tag) // `meta` is an object here
  const job = startUpstreamJob({ database, clock, url: double.url, create: explorer })
  await mintTo(pool, { fid: 2, addresses: [address] })
  await job.join()
  await job.read()
  await job.join()
  const best = async () => {
    await job.join()
    return (await profileOf(pool, 2)).oli
  }
  expect(await best()).toBe('Binance 8') // two names of one ordinal: by name
  const { rows } = await pool.query(`select meta from oli_tag where slug = 'binance-hot-wallet-20'`)
  expect(rows[0].meta).toEqual({ main_entity: 'Binance', tooltipUrl: 'https://www.binance.com/' })
  await pool.query(`update oli_tag set ordinal = 11 where slug = 'binance-hot-wallet-20'`)
  expect(await best()).toBe('Binance: Hot Wallet 20')
  await pool.query(`delete from oli_tag where fid = 2 and tag_type = 'name'`)
  expect(await best()).toBe('Binance')
  await pool.query(`delete from oli_tag where fid = 2 and tag_type = 'protocol'`)
  expect(await best()).toBe('Exchange')
})

test('a tag of every chain is shown once, without a chain; nobody gets tags of an address nobody asked about', async () => {
  const { pool } = database
  const double = await startDouble()
  const tag = { slug: 'x', name: 'everywhere', tagType: 'generic', ordinal: 0, meta: '{"a":"b\\u0000"}' }
  double.addTag(addressOf('multi'), null, tag)
  double.addTag(addressOf('other'), null, tag)
  const job = startUpstreamJob({ database, clock, url: double.url, create: explorer })
  await mintTo(pool, { fid: 3, addresses: [addressOf('multi')] })
  await job.join()
  await job.read()
  await job.join()
  const { oli_tags } = await profileOf(pool, 3)
  expect(oli_tags).toMatchObject([{ chain: null, name: 'everywhere', meta: { a: 'b\ufffd' } }])
})

test('labels of the Open Labels Initiative stand next to the tags, each with its attester', async () => {
  const { pool } = database
  const [sample] = fixture('sources/explorer/oli.sample-labels.base.first10.json')
  const double = await startDouble()
  const address = sample.address.toLowerCase()
  const about = { chain_id: sample.chain_id, time: '2026-01-01T00:00:00Z', attester: `0x${'Ab'.repeat(20)}` }
  double.addLabel(address, { ...about, tag_id: 'owner_project', tag_value: sample.owner_project })
  double.addLabel(address, { ...about, tag_id: 'is_contract', tag_value: true })
  double.addLabel(address, { ...about, chain_id: 'eip155:56', tag_id: 'contract_name', tag_value: 'elsewhere' })
  const job = startUpstreamJob({ database, clock, url: double.url, create: openLabels })
  await mintTo(pool, { fid: 4, addresses: [address] })
  await job.join()
  expect(await job.read()).toEqual(['ok'])
  await job.join()
  const profile = await profileOf(pool, 4)
  expect(profile.oli).toBe('uniswap')
  expect(profile.last_explorer_at).toBe(clock.now().toISOString())
  expect(profile.oli_tags).toMatchObject([
    { tag_type: 'protocol', slug: 'owner_project', chain: 'base', source: 'oli', attester: `0x${'ab'.repeat(20)}` },
    { tag_type: 'oli', slug: 'is_contract', name: 'true' },
  ])
})

test('an answer that is the same writes nothing, and one without tags takes them away', async () => {
  const { pool } = database
  const recorded = { tags: [{ slug: 's', name: 'n', tagType: 'generic', ordinal: 1, meta: '{"k":1}' }] }
  let addresses: object = { [addressOf('steady')]: recorded }
  const server = await serveCanned(() => ({ body: { addresses } }))
  onTestFinished(server.stop)
  const job = startUpstreamJob({ database, clock, url: server.url, create: explorer })
  await mintTo(pool, { fid: 5, addresses: [addressOf('steady')] })
  await job.join()
  await job.read()
  await job.join()
  const rows = async () => (await pool.query('select xmin::text from oli_tag where fid = 5')).rows
  const before = await rows()
  const at = clock.pass(8 * day)
  expect((await job.read()).every((outcome) => outcome === 'ok')).toBe(true)
  expect(await rows()).toEqual(before)
  expect((await profileOf(pool, 5)).oli_tags).toMatchObject([{ name: 'n', fetched_at: at.toISOString() }])

  addresses = {}
  clock.pass(8 * day)
  await job.read()
  await job.join()
  expect(await profileOf(pool, 5)).toMatchObject({ oli: null, oli_tags: [] })
})

test.each([
  ['Blockscout', explorer, 'explorer', '{"code":5,"message":"Not Found","details":[]}'],
  ['the Open Labels Initiative', openLabels, 'labels', '{"detail":"Not Found"}'],
])('a route that %s does not have any more is a refusal, and clears no tag', async (_, create, source, body) => {
  const { pool } = database
  await pool.query('delete from source_state')
  const address = addressOf(source)
  const tag = { slug: 's', name: 'n', tagType: 'generic', ordinal: 1, meta: null }
  const label = { tag_id: 'is_contract', tag_value: true, chain_id: null, attester: null }
  const known = { addresses: { [address]: { tags: [tag] } }, results: [{ address, labels: [label] }] }
  let answer: Canned = { body: known }
  const server = await serveCanned(() => answer)
  onTestFinished(server.stop)
  const job = startUpstreamJob({ database, clock, url: server.url, create, name: source })
  const fid = source === 'explorer' ? 9 : 10
  await mintTo(pool, { fid, addresses: [address] })
  await job.join()
  await job.read()
  const count = async () => (await pool.query('select from oli_tag where fid = $1', [fid])).rowCount
  expect(await count()).toBe(1)
  answer = { status: 404, body }
  clock.pass(8 * day)
  expect(new Set(await job.read())).toEqual(new Set(['refused']))
  expect(await count()).toBe(1)
})

test('a day’s requests are counted across restarts: beyond them nothing is leased until the next day', async () => {
  const { pool } = database
  await pool.query('delete from source_state')
  const double = await startDouble()
  const start = () =>
    startUpstreamJob({ database, clock, url: double.url, create: explorer, name: 'counted', perDay: 12 })
  const first = start()
  await mintTo(pool, { fid: 7, addresses: [addressOf('seven')] })
  await mintTo(pool, { fid: 8, addresses: [addressOf('eight')] })
  await first.join()
  await pool.query(`delete from source_state where subject <> 'fid:7'`)
  expect(await first.read()).toEqual(['empty']) // eight requests: seven chains, and all of them
  first.upstream.host.stop()

  const second = start()
  await pool.query(`insert into source_state (source, subject, due_at) values ('explorer', 'fid:8', $1)`, [clock.now()])
  expect(await second.read()).toEqual(['postponed'])
  expect(double.requests).toHaveLength(12)
  expect(await second.read()).toEqual([])
  const { due_at, failures } = await stateOf(pool, 'explorer', 8)
  const midnight = (Math.floor(clock.now().getTime() / day) + 1) * day
  expect([due_at.getTime(), failures]).toEqual([midnight, 0])

  clock.pass(midnight - clock.now().getTime())
  expect(await second.read()).toEqual(['empty'])
})

test('a host’s Retry-After outlives the process that was told it', async () => {
  const { pool } = database
  await pool.query('delete from source_state')
  const double = await startDouble()
  const start = () => startUpstreamJob({ database, clock, url: double.url, create: explorer, name: 'resting' })
  await pool.query(`insert into source_state (source, subject, due_at) values ('explorer', 'fid:7', $1)`, [clock.now()])
  double.faults.add({ kind: 'rate-limited', retryAfter: 600 })
  expect(await start().read()).toEqual(['rate_limited'])
  clock.pass(5 * 60_000)
  await pool.query('update source_state set due_at = $1', [clock.now()])
  expect(await start().read()).toEqual(['postponed'])
  expect(double.requests).toHaveLength(1)
  clock.pass(6 * 60_000)
  expect(await start().read()).toEqual(['empty'])
})
