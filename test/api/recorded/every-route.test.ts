import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { routes } from '../../../api/routes.ts'
import { chains } from '../../../config/chains.ts'
import { createPool, withSettings } from '../../../db/pool.ts'
import { deriveWords } from '../../../db/queries/agents/agent-words.ts'
import { writeContracts } from '../../../db/queries/chain/contracts.ts'
import { refreshFeedback } from '../../../db/queries/feedback/feedback-counts.ts'
import { refreshRankings } from '../../../db/queries/leaderboard/rankings.ts'
import { refreshSeriesPayers } from '../../../db/queries/rollup/series-payers.ts'
import { derivations } from '../../../derive/derivations.ts'
import { settle } from '../../../derive/pass.ts'
import { settleEdges } from '../../derive/passes.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { richFid, seedShowcase, sumUpIncome } from '../../support/api/showcase.ts'
import { expectSpelled } from '../../support/api/spelling.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, countSettlements, hashOf, insert, seedPayment, seedSettlement } from '../../support/seed.ts'

// What every route answers in a directory whose sums and figures the job's own derivations made: status and body, byte
// for byte. A derivation that is kept another way must leave all of them as they are; `-u` records what shall change.

const database = testDatabase()
let pool: pg.Pool
const now = Date.UTC(2026, 2, 20, 12, 34, 56)
const ago = (days: number) => new Date(now - days * 86_400_000)
const usdc = chains.base.tokens[0]!.address
const rich = addressOf('showcase 0')
const second = addressOf('showcase 1')
let api: TestApi

beforeAll(async () => {
  pool = await poolOfThen()
  await writeContracts(pool, 'base', [{ address: usdc, fromBlock: 0 }])
  await seedShowcase(pool, now)
  await seedOtherPayments()
  await seedFeedback()
  await deriveWords(pool, [richFid])
  await sumUpIncome(pool)
  const options = { pool, now: () => new Date(now), settlementOverloads: 'spec' } as const
  await countSettlements(pool, new Date(now))
  await refreshSeriesPayers({ ...options, payersUpTo: 5 })
  await refreshFeedback(options)
  await refreshRankings(options)
  await settleEdges(options)
  await settle(
    derivations.filter(({ kind }) => kind === 'searched registrations' || kind === 'declarations'),
    options,
  )
  api = await startApi({ url: database.url, pool }, { now: () => now })
})
afterAll(async () => {
  await api.stop()
  await pool.end()
})

/** Connections for which the server's `now()` is `now`, too. */
async function poolOfThen(): Promise<pg.Pool> {
  await database.pool.query(`
    create schema clock;
    create function clock.now() returns timestamptz language sql stable
    return timestamptz '${new Date(now).toISOString()}'`)
  const databaseUrl = withSettings(database.url, { after: '-c search_path=clock,pg_catalog,public' })
  return createPool({ databaseUrl, name: 'test' })
}

/** Payments by proxies and forwarders, other forms of the signature, a payer that is the agent itself, other chains. */
async function seedOtherPayments() {
  const permit2 = { payee: rich, payer: addressOf('permit payer'), token: usdc, amount: 777_000n }
  await seedPayment(pool, { ...permit2, kind: 'permit2_exact', block: 40_900_000, at: ago(3) })
  await seedPayment(pool, { ...permit2, kind: 'permit2_upto', block: 40_900_001, at: ago(2.9) })
  const forwarded = { kind: 'forwarded', forwarder: second, originLogIndex: 1, depth: 1, amount: 50_000n } as const
  const place = { block: 40_900_002, logIndex: 9, at: ago(2) }
  await seedPayment(pool, { ...place, ...forwarded, payee: rich, payer: addressOf('payer 1'), token: usdc })
  const paid = { recipient: rich, amount: 1_000_000n }
  await seedSettlement(pool, { ...paid, chain: 'celo', block: 41_000_000, at: ago(1), payer: rich })
  await seedSettlement(pool, { ...paid, chain: 'celo', block: 41_000_001, at: ago(0.9), selector: '0xcf092995' })
  await seedSettlement(pool, { ...paid, chain: 'polygon', block: 41_000_002, at: ago(45), payer: second })
}

async function seedFeedback() {
  const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
  for (const [place, by] of [rich, second, 'payer 0', 'payer 1', 'nobody'].entries()) {
    const client = by.startsWith('0x') ? by : addressOf(by)
    await insert(pool, 'feedback', {
      id: `base-100-${client}-1`,
      chain: 'base',
      agent_id: '100',
      client: bytes(client),
      feedback_index: 1,
      value: 100 - place * 30,
      value_decimals: place % 2,
      tag1: place % 2 ? 'starred' : '',
      tag2: '',
      endpoint: '',
      feedback_uri: '',
      feedback_hash: bytes(hashOf(`feedback ${place}`)),
      block_number: 40_000_000 + place,
      log_index: place,
      block_timestamp: ago(10 - place),
      tx_hash: bytes(hashOf(`feedback tx ${place}`)),
      revoked_block: place === 3 ? 40_000_100 : null,
      revoked_at: place === 3 ? ago(1) : null,
    })
  }
}

const agent = `/api/agent/${richFid}`
const months = 'interval=month&since=2026-01-01T00:00:00Z'
const asked: Record<string, readonly string[]> = {
  '/api/agent/{fid}': [agent, `${agent}?fields=fid,handle,settlements_30d`, `/api/agent/${richFid + 93}`],
  '/api/agent/{fid}/settlements': [`${agent}/settlements?limit=5`, `${agent}/settlements?chain=celo&order=asc`],
  '/api/discovery': [
    '/api/discovery?limit=5',
    '/api/discovery?limit=5&sort=most-active&alive=true',
    '/api/discovery?limit=5&sort=most-earned',
    '/api/discovery?limit=5&paid_30d=true&min_settlements=10&has_settlements=true',
    '/api/discovery?q=tideline&protocol=mcp',
  ],
  '/api/by-address/{address}': [`/api/by-address/${rich}`],
  '/api/leaderboard': [
    ...['7d', '30d', 'all'].map((period) => `/api/leaderboard?period=${period}&limit=10`),
    ...['volume', 'payers', 'feedback'].map((by) => `/api/leaderboard?by=${by}&limit=5`),
    '/api/leaderboard?by=volume&exclude_self=true&chain=base&change=7d',
  ],
  '/api/stats': ['/api/stats'],
  '/feed.atom': ['/feed.atom?chain=gnosis'],
  '/data/agents.json': ['/data/agents.json'],
  '/data/changes.ndjson': ['/data/changes.ndjson'],
  '/data/log.ndjson': ['/data/log.ndjson?limit=5'],
  '/api/coverage': ['/api/coverage'],
  '/api/agent/{fid}/explain': [`${agent}/explain`],
  '/api/by-address/{address}/explain': [`/api/by-address/${rich}/explain`],
  '/api/agent/{fid}/registrations': [`${agent}/registrations`],
  '/api/registrations': ['/api/registrations?limit=3', `/api/registrations?fid=${richFid}&human=true&limit=2`],
  '/api/agent/{fid}/feedback': [`${agent}/feedback`, `${agent}/feedback?paid=true`],
  '/api/agent/{fid}/addresses': [`${agent}/addresses`],
  '/api/agent/{fid}/proof': [`${agent}/proof`],
  '/api/agent/{fid}/proof/history': [`${agent}/proof/history`],
  '/api/agents': [`/api/agents?fids=${richFid},${richFid + 31}`, `/api/agents?addresses=${second}&fields=fid`],
  '/api/settlements': [
    `/api/settlements?recipient=${rich}&limit=5`,
    `/api/settlements?fid=${richFid}&chain=celo&order=asc`,
  ],
  '/api/agent/{fid}/timeseries': [`${agent}/timeseries?${months}`, `${agent}/timeseries?interval=day`],
  '/api/timeseries': [`/api/timeseries?${months}`, '/api/timeseries?interval=week&chain=base'],
  '/api/agent/{fid}/uptime': [`${agent}/uptime`],
  '/api/agent/{fid}/prices': [`${agent}/prices`],
  '/api/payee': [
    '/api/payee?url=https://tideline.example/.well-known/agent-card.json',
    `/api/payee?pay_to=${rich}&agent=base:7`,
  ],
  '/api/agent/{fid}/doctor': [`${agent}/doctor`],
  '/api/doctor/codes': ['/api/doctor/codes'],
  '/api/doctor/codes/{code}': ['/api/doctor/codes/pay_to_zero'],
  '/api/growth': [`/api/growth?${months}`],
  '/api/agent/{fid}/state': [`${agent}/state?as_of=2026-03-10T00:00:00Z`],
  '/api/agent/{fid}/control': [`${agent}/control`, `${agent}/control?as_of=2026-03-10T00:00:00Z`],
  '/api/by-address/{address}/owners': [`/api/by-address/${rich}/owners?as_of=2026-03-10T00:00:00Z`],
  '/api/by-address/{address}/portfolio': [`/api/by-address/${rich}/portfolio`],
  '/api/search': ['/api/search?q=tides', '/api/search?q=harbour&in=skills'],
  '/api/facilitators': ['/api/facilitators'],
  '/api/discovery/facets': ['/api/discovery/facets', '/api/discovery/facets?chain=base&of=skill'],
  '/api/agent/{fid}/income': [`${agent}/income`],
  '/api/agent/{fid}/income/timeseries': [`${agent}/income/timeseries?${months}`],
  '/api/agent/{fid}/income/payments': [`${agent}/income/payments?limit=10`],
  '/api/agent/{fid}/income.csv': [`${agent}/income.csv?chain=celo`],
  '/api/income/stats': ['/api/income/stats'],
  '/api/errors': ['/api/errors'],
  '/api/errors/{code}': ['/api/errors/ERR_SIG_EXPIRED'],
  '/feed/agents.atom': ['/feed/agents.atom?chain=gnosis'],
  '/feed/events.atom': ['/feed/events.atom'],
  '/feed/events/{number}.atom': ['/feed/events/1.atom'],
  '/badge/{fid}.svg': [`/badge/${richFid}.svg`],
  '/badge/{fid}.json': [`/badge/${richFid}.json`],
}
/** Told of the product itself, and tested with it. */
const elsewhere = ['/feed/api.atom']

test('every route is asked', () => {
  const paths = routes.map(({ path }) => path)
  expect([...Object.keys(asked), ...elsewhere].sort()).toEqual([...new Set(paths)].sort())
})

test('every route answers as before', async () => {
  const answers: string[] = []
  for (const path of Object.values(asked).flat()) {
    const response = await api.get(path, { headers: { 'accept-encoding': 'identity' } })
    const body = await response.text()
    if (response.headers.get('content-type')?.includes('json')) expectSpelled(body)
    answers.push(`GET ${path}\n${response.status}\n\n${ofItsMoment(body)}`)
  }
  await expect(`${answers.join('\n\n')}\n`).toMatchFileSnapshot('every-route-answers.txt')
})

/** The text with each time that the machine's clock gave it replaced; those of the world are all before `now`. */
function ofItsMoment(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (time) => (Date.parse(time) > now ? '…' : time))
    .replaceAll(/"lag_seconds" ?: ?\d+/g, '"lag_seconds":…')
}
