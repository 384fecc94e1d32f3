import { startPostgres } from '../postgres/embedded.ts'
import { migrate } from '../db/migrate.ts'
import { createPool } from '../db/pool.ts'
import { fillWorld } from '../bench/world.ts'
import { deriveWords } from '../db/queries/join/agent-words.ts'
import { searchAgents } from '../db/queries/find/search.ts'
import { discoveryPage } from '../db/queries/find/discovery.ts'
import { allSettlements } from '../db/queries/read/all-settlements.ts'
import { settlementSeries } from '../db/queries/time/timeseries.ts'
import { addressPortfolio } from '../db/queries/time/portfolio.ts'
import { agentState, addressOwners } from '../db/queries/time/as-of.ts'
import { rollUpSettlements } from '../enrichment/join/rollup.ts'
const postgres = await startPostgres({ dataFolder: '/tmp/reading-pg/postgres', durable: false, settings: { shared_buffers: '512MB', max_wal_size: '2GB' } })
const pool = createPool({ databaseUrl: postgres.databaseUrl, name: 'plan', statementTimeoutMs: 0 })
const t0 = performance.now(); const say = (m: string) => console.log(((performance.now() - t0) / 1000).toFixed(1), m)
try {
  await migrate(postgres.databaseUrl); say('migrated')
  await fillWorld(pool, { agents: 100_000, addresses: 150_000, settlements: 1_000_000 }); say('filled')
  await pool.query(`insert into registration_document (chain, agent_id, uri_status, name, description, services, updated_at)
    select chain, agent_id, 'ok', 'Agent ' || agent_id, 'An agent that helps with trade and audit number ' || (agent_id % 977), '[{"name":"A2A","endpoint":"https://x.example"}]', now() from registration`)
  for (let f = 1; f <= 100_000; f += 2_000) await deriveWords(pool, Array.from({ length: 2_000 }, (_, n) => f + n)); say('words')
  while ((await rollUpSettlements({ pool })) > 0); say('rolled')
  await pool.query('vacuum (analyze)')
  const time = async (name: string, run: () => Promise<unknown>) => {
    const ms: number[] = []
    for (let n = 0; n < 15; n++) { const s = performance.now(); await run(); ms.push(performance.now() - s) }
    ms.sort((a, b) => a - b); console.log(name.padEnd(45), 'p50', ms[7]!.toFixed(1), 'max', ms[14]!.toFixed(1))
  }
  for (const q of ['agent', 'falcon', 'trade audit', 'falcn', '@falcon-scout7', 'FID 4207', 'zzz', 'relay swap harbor', '976'])
    await time(`search ${q}`, () => searchAgents(pool, { q, parts: null, limit: 20, offset: 0 }))
  await time('search agent in=description', () => searchAgents(pool, { q: 'agent', parts: ['description'], limit: 20, offset: 0 }))
  const none = { q: null, chain: null, claimed: null, spec: null, codehost: null }
  const d = (f: object, sort: 'newest' | 'oldest' | 'cross-chain' | 'most-active' = 'newest') => () => discoveryPage(pool, { ...none, ...f }, { sort, limit: 30, from: { after: null }, fields: null }, { totalAt: async (change) => ({ total: 0, change }), leftOut() {} })
  await time('discovery', d({}))
  await time('discovery seen_since', d({ seen_since: new Date(Date.now() - 86_400_000).toISOString() }))
  await time('discovery min_settlements rare', d({ min_settlements: '100000' }))
  await time('discovery registered window', d({ registered_since: '2026-02-10T00:00:00Z', registered_until: '2026-02-10T01:00:00Z' }, 'most-active'))
  await time('discovery tag', d({ tag: ['nobody'] }))
  await time('discovery status', d({ status: ['historical'] }))
  await time('discovery q falcon', d({ q: 'falcon' }))
  const nos = { chain: null, payer: null, facilitator: null, selector: null, min_amount: null, max_amount: null, since: null, until: null, final: null, fid: null, recipient: null, tx_hash: null }
  const { rows: [one] } = await pool.query(`select '0x'||encode(payer,'hex') p, '0x'||encode(facilitator,'hex') f, '0x'||encode(recipient,'hex') r, '0x'||encode(tx_hash,'hex') t from settlement limit 1`)
  const a = (f: object, after?: string[]) => () => allSettlements(pool, { limit: 100, settlementOverloads: 'spec', filter: { ...nos, ...f }, order: 'desc', after })
  await time('all payer', a({ payer: one.p })); await time('all facilitator', a({ facilitator: one.f })); await time('all recipient', a({ recipient: one.r }))
  await time('all tx', a({ tx_hash: one.t })); await time('all since', a({ since: new Date(Date.now() - 30 * 86_400_000).toISOString() }))
  await time('all since rare amount', a({ since: new Date(Date.now() - 30 * 86_400_000).toISOString(), min_amount: '900000000000' }))
  await time('all fid 1', a({ fid: '1' }))
  const starts = Array.from({ length: 30 }, (_, n) => Math.floor(Date.now() / 86_400_000) * 86_400_000 - (29 - n) * 86_400_000)
  const s = (fid: number | null) => () => settlementSeries(pool, { fid, starts, end: starts.at(-1)! + 86_400_000, chain: null, settlementOverloads: 'spec' })
  await time('series of fid 1', s(1)); await time('series of all', s(null))
  await time('portfolio', () => addressPortfolio(pool, { address: one.r, settlementOverloads: 'spec' }))
  await time('state', () => agentState(pool, 5, null)); await time('owners', () => addressOwners(pool, one.r, Date.now() - 86_400_000))
} finally { await pool.end(); await postgres.stop() }
