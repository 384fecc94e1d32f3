import { beforeAll, expect, test } from 'vitest'
import { fillContractRows } from '../../bench/contract-rows.ts'
import { fillWorld } from '../../bench/world.ts'
import { busiestChain } from '../../config/chains.ts'
import { samples } from '../../db/contract/questions.ts'
import { readOf } from '../../db/contract/views.ts'
import { rollUpSettlements } from '../../enrichment/periodic/rollup.ts'
import { testDatabase } from '../support/database.ts'

const world = { agents: 1_000, addresses: 1_500, settlements: 15_000 }
/** Settlements of agent 1 besides those, the last block of all, and feedback on each of its identities. */
const ofAgent1 = 2_000
const lastBlock = 80_000_000
const feedbackOnOne = 1_000

const database = testDatabase()
beforeAll(async () => {
  const { pool } = database
  await fillWorld(pool, world)
  await pool.query(`
    insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token,
                            payer, recipient, facilitator, payment_nonce, tx_hash)
    select 1000, now() - (120.0 * (${ofAgent1} - n) / ${ofAgent1}) * interval '1 day',
           (${lastBlock}.0 * n / ${ofAgent1})::int, 100 + n % 40, '${busiestChain}', 'c', '\\xe3ee160e', address,
           substr(sha256(int8send(n % 500)), 1, 20), address, address, sha256(int8send(n)), sha256(int8send(n))
      from generate_series(1::bigint, ${ofAgent1}) n,
           (select verified_addresses[1] as address from agent where fid = 1) busiest;
    update chain_state set indexed_block = ${lastBlock}, head_block = ${lastBlock}, finalized_block = ${lastBlock} - 10000`)
  while ((await rollUpSettlements({ pool })) > 0);
  await fillContractRows(pool, feedbackOnOne)
})

const countOf = (rows: string) => `select count(*)::int as things from directory.${rows}`
const ofAddresses = (view: string, fids: string) =>
  countOf(`${view} p join directory.addresses v on v.address_bytes = p.recipient_bytes where v.fid in (${fids})`)
const newest = (blocks: number) => `(select indexed_block - ${blocks} from directory.chains where chain = 'base')`
const firstAddress = '(select address_bytes from directory.addresses where fid = 1 order by address limit 1)'
const shards = 'select count(*)::int as things from backfill_shard'

/** What questions say that they grow with, each with how much of it there is. */
const things: Readonly<Record<string, readonly string[]>> = {
  'nothing but the rows that it shows': [],
  'the number of agents': [countOf('agents')],
  'the number of verified addresses': [countOf('addresses')],
  'the number of claims': [countOf('claims')],
  'the number of registrations': [countOf('registrations')],
  'the number of registrations; 400,000 take five seconds on two cores with a load of 24': [countOf('registrations')],
  'the registrations of the chain': [countOf(`registrations where chain = 'base'`)],
  'the number of holdings': [countOf('holdings')],
  'the number of agents, and of code accounts': [countOf('agents'), countOf('codehosts')],
  'the edges of the agent': [countOf('edges where fid = 1')],
  'what the agent held since': [countOf('holdings where fid = 1')],
  'the hours in which it was paid': [ofAddresses('settlements_hourly', '1'), countOf('income where fid = 1')],
  'the hours in which it was paid, and its payments of the newest blocks': [
    ofAddresses('settlements_hourly', '1'),
    countOf(`agent_settlements s join directory.chains c using (chain)
              where s.fid = 1 and s.block_number > c.rolled_up_block`),
    countOf('chains'),
  ],
  'the hours in which each agent was paid': [countOf('income')],
  'the agents that were paid': [countOf('demand')],
  'its payers': [ofAddresses('payers', '1')],
  'the payers of both': [ofAddresses('payers', '1, 2')],
  'those whom it paid': [countOf(`payers where payer_bytes = ${firstAddress}`)],
  'its payments in these blocks': [
    countOf(`agent_settlements where fid = 1 and chain = 'base' and block_number > ${newest(300_000)}`),
  ],
  'its payments in these days': [
    countOf(`agent_settlements where fid = 2 and block_timestamp > now() - interval '31 days'`),
  ],
  'the recipients of each hour of the week': [countOf(`settlements_hourly where hour > now() - interval '7 days'`)],
  'the settlements in these blocks': [countOf(`settlements where chain = 'base' and block_number > ${newest(10_000)}`)],
  'the settlements in these blocks, and the number of verified addresses': [
    countOf(`settlements where chain = 'base' and block_number > ${newest(10_000)}`),
    countOf('addresses'),
  ],
  'the accounts of facilitators': [countOf('facilitators')],
  'the own addresses of agents, and the rings they are in': [countOf('addresses'), countOf('flagged_addresses')],
  // Of each, whether its client had paid one of the agent's addresses is looked up.
  'the feedback on the agent': [
    countOf('agent_feedback where fid = 1'),
    countOf('agent_feedback f join directory.addresses v using (fid) where f.fid = 1'),
  ],
  'the feedback on the identity, and that of the client': [
    countOf(`feedback where chain = 'base' and erc8004_id = 1`),
    countOf(`feedback where client_bytes = (select client_bytes from directory.feedback where chain = 'base' and erc8004_id = 1
              order by block_timestamp, block_number, log_index limit 1)`),
  ],
  'the events of the identity': [countOf(`registry_events where chain = 'base' and erc8004_id = 1`)],
  'the responses to feedback on the agent': [
    countOf('holdings h join directory.feedback_responses r using (chain, erc8004_id) where h.fid = 1'),
  ],
  'the agents that were never paid, and their documents': [
    countOf('agents where settlements_all = 0'),
    countOf('specs s join directory.agents a using (fid) where a.settlements_all = 0'),
  ],
  'the looks at its hosts within a day': [
    countOf(`uptime_checks where fid = 1 and checked_at > now() - interval '1 day'`),
  ],
  'its documents and the days': [countOf('uptime_days where fid = 1')],
  'its prices and its registrations': [countOf('prices where fid = 1'), countOf('holdings where fid = 1')],
  'the sources': [countOf('streams')],
  'the chains': [countOf('chains')],
  'the ranges that were loaded': [shards, countOf('reservations')],
  'the certificates of the chain': [shards, countOf('certificates')],
}

/** Most rows that a question may read for each thing that it grows with, for each row that it shows, and besides. */
const most = { perThing: 2, perRow: 4, besides: 30 }

test.for(samples)('$question reads rows of what it grows with, and no others', async ({ growsWith, sql }) => {
  const counts = things[growsWith]
  expect(counts, `a new thing that a question grows with: ${growsWith}`).toBeDefined()
  const client = await database.pool.connect()
  try {
    await client.query('begin')
    // Of a table as small as here, all rows are read more quickly than some of them by an index.
    await client.query('set local enable_seqscan = off')
    let grown = 0
    for (const count of counts!) grown += (await client.query<{ things: number }>(count)).rows[0]!.things
    const { rowsRead } = await readOf(client, sql)
    const { rowCount } = await client.query(sql)
    expect(rowsRead).toBeLessThanOrEqual(most.perThing * grown + most.perRow * (rowCount ?? 0) + most.besides)
  } finally {
    await client.query('rollback')
    client.release()
  }
})

test('each thing is one that a question grows with', () => {
  expect(Object.keys(things).sort()).toEqual([...new Set(samples.map(({ growsWith }) => growsWith))].sort())
})
