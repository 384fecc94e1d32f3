import { expect, test } from 'vitest'
import { mint } from '../../derive/agents/job.ts'
import { testDatabase } from '../../support/database.ts'
import { addressesOf } from '../public-host.ts'
import { aroundDatabase } from './namespace.ts'

const database = testDatabase()
const run = aroundDatabase(database)

test('without a route, tokens and services at any name are out of reach, and the enrichment goes on', async () => {
  const { pool } = database
  const kinds = Object.keys(addressesOf) as (keyof typeof addressesOf)[]
  const hostOf = (fid: number) => `agent-${fid}.xyz`
  for (const fid of kinds.keys()) {
    const service = { name: 'A2A', endpoint: `https://${hostOf(fid + 1)}/.well-known/agent-card.json` }
    const file = JSON.stringify({ name: 'agent', services: [service] })
    await mint(pool, { id: 2 * fid, fid: fid + 1, uri: `https://${hostOf(fid + 1)}/agent.json` })
    await mint(pool, { id: 2 * fid + 1, fid: fid + 1, uri: `data:,${encodeURIComponent(file)}` })
  }
  const zone = Object.fromEntries(kinds.map((kind, index) => [hostOf(index + 1), addressesOf[kind]]))
  const count = String(kinds.length)
  expect(await run('read-agents.ts', ['-6 addr flush dev lo'], [JSON.stringify(zone), count, count])).toEqual({
    strays: 0,
    code: 0,
  })
  const { rows } = await pool.query(`
    select fid::int, last_check_status as status, uri_status
      from agent_spec join registration_document on agent_id = 2 * fid - 2 where declared order by fid`)
  expect(rows).toEqual(
    kinds.map((kind, index) => {
      const status = kind === 'none' ? 'dns_error' : 'connect_error'
      return { fid: index + 1, status, uri_status: 'unreachable' }
    }),
  )
})
