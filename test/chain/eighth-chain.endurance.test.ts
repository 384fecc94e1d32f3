import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keccak256, toBytes } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addChains } from '../../config/chains.ts'
import { understood } from '../../db/queries/directory/query-text.ts'
import { accountOf, type DevChain, startDevChain } from '../../devnet/chain/chain.ts'
import * as identity from '../../devnet/chain/identity.ts'
import { mint, pay, signAuthorization } from '../../devnet/chain/payments.ts'
import { type Hub, startHub } from '../../devnet/hub/server.ts'
import { HubState } from '../../devnet/hub/state.ts'
import { type ApiProcess, startApiProcess, startGraphqlProcess } from '../support/api/process.ts'
import { addedByFile, addedByRow, eighthName, eighthRow } from '../support/chain/eighth.ts'
import { spawnProcessor } from '../support/chain/processor.ts'
import { createTestDatabase, type OwnDatabase } from '../support/database.ts'
import { spawnEnrichment } from '../support/enrichment-process.ts'
import { runMain } from '../support/mains.ts'
import { until } from '../support/until.ts'

const fid = 7
const label = eighthRow.label
const holder = accountOf('holder on the eighth chain')
const payer = accountOf('payer on the eighth chain')
const amounts = [250_000n, 500_000n, 1_000_000n]

let chain: DevChain
let hub: Hub
let head: number
let paid: string[]
beforeAll(async () => {
  addChains({ [eighthName]: eighthRow })
  hub = await startHub(new HubState())
  hub.state.addAccount({ fid, custody: payer.address, registeredAt: new Date(Date.now() - 3_600_000) })
  hub.state.addVerification(fid, holder.address)
  hub.state.setProfile(fid, { username: 'polaris', displayName: 'Polaris' })
  const genesisTime = Math.floor(Date.now() / 1000) - 3_600
  chain = await startDevChain(eighthName, { funded: [holder.address, payer.address], genesisTime })
  await chain.execute(holder, identity.register('data:,one'))
  await chain.execute(holder, identity.register('data:,two'))
  await chain.execute(payer, identity.giveFeedback({ agentId: 0n, value: 90n }))
  await chain.execute(payer, mint(chain, payer.address, 10_000_000n))
  paid = []
  for (const [index, value] of amounts.entries()) {
    const nonce = keccak256(toBytes(`nonce ${index}`))
    const authorization = await signAuthorization(chain, payer, { to: holder.address, value, nonce })
    paid.push((await chain.execute(payer, pay(authorization))).transactionHash)
  }
  await chain.client.mine({ blocks: eighthRow.finalityConfirmation + 1 })
  head = Number(await chain.client.getBlockNumber())
})
afterAll(async () => {
  await chain?.stop()
  await hub?.stop()
})

describe.each([
  { added: 'by one row of the table', install: addedByRow },
  { added: 'by CHAINS_FILE alone', install: addedByFile },
])('a chain that is added $added', ({ install }) => {
  const ends: (() => Promise<unknown>)[] = []
  let database: OwnDatabase
  let env: Record<string, string>
  let api: ApiProcess
  let graphql: ApiProcess
  beforeAll(async () => {
    const installation = await install(chain.rpc)
    ends.push(installation.remove)
    database = await createTestDatabase()
    ends.unshift(database.drop)
    env = { DATABASE_URL: database.url, ...installation.env }
    const migrated = await runMain('db/main.ts', [], { env })
    expect(migrated).toMatchObject({ code: 0, stderr: '' })
    const processor = await spawnProcessor({ chain: eighthName, databaseUrl: database.url, chainSettings: {}, env })
    ends.unshift(processor.stop)
    await processor.untilIndexed(head)
    const job = spawnEnrichment({ ...env, HUB_URL: hub.url, HUB_POLL_SECONDS: '0.2' })
    ends.unshift(() => job.kill('SIGTERM'))
    api = await startApiProcess(env)
    ends.unshift(api.kill)
    graphql = await startGraphqlProcess({ DATABASE_URL: database.url })
    ends.unshift(graphql.kill)
    await until('its settlements were counted', async () => {
      const { rows } = await database.pool.query('select settlements_all from agent where fid = $1', [fid])
      return rows[0]?.settlements_all === amounts.length
    })
    await until('its registrations were counted', async () => {
      const { rows } = await database.pool.query('select sum(identities)::int as n from directory_sum')
      return rows[0]?.n === 2
    })
  })
  afterAll(async () => {
    for (const end of ends) await end()
  })

  const text = async (path: string) => {
    const response = await fetch(`${api.url}${path}`)
    expect(response.status, path).toBe(200)
    return response.text()
  }
  const json = async (path: string) => JSON.parse(await text(path))
  const query = async (sql: string, parameters: unknown[] = [eighthName]) =>
    (await database.pool.query(sql, parameters)).rows

  test('has its registrations, its settlements and their counts in the profile', async () => {
    const profile = await json(`/api/agent/${fid}`)
    expect(profile).toMatchObject({ fid, chains: [label], settlements_all: amounts.length })
    const { registrations } = await json(`/api/agent/${fid}/registrations?chain=${encodeURIComponent(label)}`)
    expect(registrations.map(({ chain, erc8004_id }: Row) => [chain, erc8004_id])).toEqual([
      [eighthName, 0],
      [eighthName, 1],
    ])
    const { settlements } = await json(`/api/agent/${fid}/settlements`)
    expect(settlements.map(({ chain, tx_hash }: Row) => [chain, tx_hash])).toEqual(
      paid.toReversed().map((hash) => [eighthName, hash]),
    )
  })

  test('is walked by cursor, and has its registrations named in a question by its name and its label', async () => {
    const first = await json(`/api/agent/${fid}/settlements?limit=1&cursor=`)
    const second = await json(`/api/agent/${fid}/settlements?limit=1&cursor=${first.next_cursor}`)
    expect(second.settlements.map(({ tx_hash }: Row) => tx_hash)).toEqual([paid.at(-2)])
    for (const name of [eighthName, label]) {
      expect(understood(`${name} 1`).registration).toEqual({ chain: eighthName, id: '1' })
      const agent = encodeURIComponent(`${name}:1`)
      expect(await json(`/api/payee?agent=${agent}&pay_to=${holder.address}`)).toMatchObject({
        agent: { chain: eighthName, erc8004_id: 1 },
      })
    }
  })

  test('is a filter of lists, by its label, and a row of the statistics', async () => {
    const found = await json(`/api/discovery?chain=${encodeURIComponent(label)}`)
    expect(found).toMatchObject({ total: 1, agents: [{ fid, chains: [label] }] })
    expect(await json(`/api/discovery?chain=Base`)).toMatchObject({ total: 0 })
    await expect.poll(() => json(`/api/leaderboard?period=all`)).toMatchObject({ agents: [{ fid }] }) // ranked in rounds
    const stats = await json('/api/stats')
    expect(stats.erc8004_supply).toMatchObject({ base: 0, [eighthName]: 2 })
    expect(stats.chains.at(-1)).toMatchObject({ chain: eighthName, head_block: head, indexed_block: head })
  })

  test('stands on the pages with its label, its colour and its explorer', async () => {
    const directory = await text('/')
    expect(directory).toContain(`>${label}</`)
    const [style] = directory.match(/\/assets\/[^"]+\.css/) ?? []
    expect(await text(style as string)).toContain(`.chain.${eighthName} { --hue: ${eighthRow.hue} }`)
    const page = await text(`/agent/${fid}`)
    expect(page).toContain(`<span class="chain ${eighthName}">${label}</span>`)
    expect(page).toContain(`href="/tx/${eighthName}/${paid[0]}"`)
    expect(await text(`/tx/${eighthName}/${paid[0]}`)).toContain(`https://north-star.example/tx/${paid[0]}`)
    expect(await text('/status')).toContain(`${label}</th>`)
  })

  test('has its term in the feeds', async () => {
    expect(await text('/feed.atom')).toContain(`term="chain:${eighthRow.feedTerm}"`)
    expect(await text(`/feed.atom?chain=${encodeURIComponent(label)}`)).toContain('polaris')
    expect(await text(`/agent/${fid}/feed.atom`)).toContain(`term="chain:${eighthRow.feedTerm}"`)
  })

  test('is of the enumerations of the API’s description', async () => {
    const { components, paths } = await json('/openapi.json')
    expect(components.schemas.ChainName.enum.at(-1)).toBe(eighthName)
    expect(components.schemas.ChainLabel.enum.at(-1)).toBe(label)
    expect(JSON.stringify(components)).toContain(String(eighthRow.id))
    expect(JSON.stringify(paths['/api/discovery'])).toContain(label)
  })

  test('has its rows in the views of the SQL contract, in partitions of its own, rolled up', async () => {
    expect(await query('select * from directory.chains where chain = $1')).toMatchObject([
      { chain: eighthName, indexed_block: head },
    ])
    const comment = `select col_description('directory.settlements'::regclass, 1) like '%, ' || $1 || '.' as named`
    expect(await query(comment)).toEqual([{ named: true }])
    expect(await query('select * from directory.registrations where chain = $1')).toHaveLength(2)
    expect(await query('select * from directory.holdings where chain = $1')).toHaveLength(2)
    expect(await query('select sum(amount_usdc)::text as sum from directory.settlements where chain = $1')).toEqual([
      { sum: '1.750000' },
    ])
    expect(await query('select chain from feedback where chain = $1')).toHaveLength(1)
    const tables = 'select distinct tableoid::regclass::text as name from settlement where chain = $1'
    expect(await query(tables)).toEqual([{ name: `settlement_${eighthName}_0000` }])
    await until('it was rolled up', async () => {
      const [mark] = await query('select next_block::int as next from settlement_rollup where chain = $1')
      return mark.next > head - eighthRow.finalityConfirmation
    })
    const sums = 'select sum(settlements)::int as sum from directory.settlements_daily where chain = $1'
    expect(await query(sums)).toEqual([{ sum: amounts.length }])
  })

  test('is known to GraphQL, which reads the views', async () => {
    const response = await fetch(`${graphql.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        query: `{ agentByFid(fid: "${fid}") { chains settlements(first: 3) { nodes { chain } } } }`,
      }),
    })
    const nodes = amounts.map(() => ({ chain: eighthName }))
    expect(await response.json()).toEqual({ data: { agentByFid: { chains: [eighthName], settlements: { nodes } } } })
  })

  test('is exported by its name', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'eighth-export-'))
    const args = ['--what', 'settlements', '--format', 'ndjson', '--chain', eighthName, '--out', folder]
    expect(await runMain('export/main.ts', args, { env })).toMatchObject({ code: 0 })
    const { rows } = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'))
    expect(rows).toBe(amounts.length)
    await rm(folder, { recursive: true })
  })
})

type Row = Record<string, unknown>
