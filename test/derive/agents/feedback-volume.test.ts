import type pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { chainNames } from '../../../config/chains.ts'
import { inTransaction, type Queryable } from '../../../db/pool.ts'
import { deriveAgents } from '../../../db/queries/agents/agents.ts'
import { lockJoin } from '../../../db/queries/agents/lock.ts'
import { deriveEdgesOf, lockEdges } from '../../../db/queries/edges/edges.ts'
import { mintTo } from '../../enrichment/upstreams/job.ts'
import { testDatabase } from '../../support/database.ts'
import { rowsRead } from '../../support/rows-read.ts'
import { addressOf, birth, hashOf, seedAgent } from '../../support/seed.ts'

// Anybody may give one registration a million feedbacks.

const database = testDatabase()
let pool: pg.Pool
const judged = 1
const judge = 2
const many = 1_000
const client = addressOf('judge')

beforeAll(async () => {
  pool = database.pool
  await mintTo(pool, { fid: judged, addresses: [addressOf('judged')] })
  await seedAgent(pool, { fid: judge, addresses: [client] })
  await derive(pool)
  await give(1, many)
  await derive(pool)
  await pool.query('vacuum (analyze) feedback')
})

const derive = (db: Queryable) => deriveAgents(db, { fids: [judged], chainOrder: chainNames, now: birth })

async function give(first: number, last: number) {
  await pool.query(
    `insert into feedback (id, chain, agent_id, client, feedback_index, value, value_decimals, tag1, tag2, endpoint,
                           feedback_uri, feedback_hash, block_number, log_index, block_timestamp, tx_hash)
     select 'base-' || n, 'base', $1, $2, n, 5, 0, '', '', '', '', $3, 1000 + n, 0, $4, $3
       from generate_series($5::int, $6::int) n`,
    [judged * 100, Buffer.from(client.slice(2), 'hex'), Buffer.from(hashOf('f').slice(2), 'hex'), birth, first, last],
  )
}

test('an agent is derived without a look at the feedback it got, and changes with it all the same', async () => {
  const read = (db: Queryable) => lockJoin(db).then(() => derive(db))
  expect(await rowsRead(pool, read, ['feedback'])).toBe(0)

  const changed = [{ fid: judged, kind: 'changed', claimChanged: false }]
  expect(await derive(pool)).toEqual([])
  await give(many + 1, many + 1)
  expect(await derive(pool)).toEqual(changed)
  await pool.query('update feedback set revoked_block = 9000 where feedback_index = 7')
  expect(await derive(pool)).toEqual(changed)
  await pool.query('delete from feedback where feedback_index in (7, $1)', [many + 1])
  expect(await derive(pool)).toEqual(changed)
  expect(await derive(pool)).toEqual([])
})

test('who gave an agent much feedback is looked up once, not for each', async () => {
  const derivation = { fids: [judged], settlementOverloads: 'spec', mostOfSite: 50 } as const
  const work = async (db: Queryable) => {
    await lockEdges(db)
    await deriveEdgesOf(db, derivation)
  }
  expect(await rowsRead(pool, work, ['verified_address', 'registration', 'agent_holding'])).toBeLessThan(100)
  await inTransaction(pool, work)
  const { rows } = await pool.query(`select fid::int, peer::int, weight::int from agent_edge where kind = 'feedback'`)
  expect(rows).toEqual([{ fid: judged, peer: judge, weight: many - 1 }])
})
