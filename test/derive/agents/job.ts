import type pg from 'pg'
import { onTestFinished } from 'vitest'
import { type ChainName, chainNames, chainOf, chains } from '../../../config/chains.ts'
import { agentProfile } from '../../../db/queries/agents/profile.ts'
import { pagesOf } from '../../../devnet/hosts/agent-pages.ts'
import { type IpfsGateway, startGateway } from '../../../devnet/hosts/gateway.ts'
import { startWebHost, type WebHost } from '../../../devnet/hosts/web-host.ts'
import { readConfig } from '../../../enrichment/config.ts'
import { createSources, type SourcesOptions } from '../../../enrichment/installed-sources.ts'
import type { ChainIdentities } from '../../../enrichment/networks.ts'
import { runPass } from '../../../enrichment/schedule/scheduler.ts'
import type { TestDatabase } from '../../support/database.ts'
import type { Clock } from '../../support/enrichment-job.ts'
import { addressOf, birth, hashOf, insert, seedRegistration, seedVerification } from '../../support/seed.ts'
import { runJoin } from '../passes.ts'

/** Requests to the tests' own hosts are not spaced out. */
const impatient = { intervalMs: 0, maxWaiting: 1_000, maxWaitMs: 10_000 }

/** Hosts for this test, stopped after it. */
export async function startHosts(count: number): Promise<WebHost[]> {
  const hosts = await Promise.all(Array.from({ length: count }, () => startWebHost()))
  for (const host of hosts) onTestFinished(host.stop)
  return hosts
}

export async function startGateways(count: number): Promise<IpfsGateway[]> {
  const gateways = await Promise.all(Array.from({ length: count }, () => startGateway()))
  for (const gateway of gateways) onTestFinished(gateway.stop)
  return gateways
}

interface AgentsJob {
  /** Passes of one source until nothing of it is due; resolves with the outcomes of its reads. */
  read(source: string): Promise<string[]>
  join(): Promise<void>
}

/** The sources that reach agents' own hosts, on the test's clock; closed after the test. */
export function startAgentsJob(options: {
  readonly database: TestDatabase
  readonly clock: Clock
  readonly hosts: readonly WebHost[]
  readonly env?: Record<string, string>
  /** Fields of the chain table to replace, as CHAINS_FILE would. */
  readonly overrides?: Partial<ChainIdentities>
}): AgentsJob {
  const { database, clock, hosts, env = {}, overrides } = options
  const { pool } = database
  const EGRESS_ALLOW = hosts.map(({ name }) => name).join(',')
  const config = readConfig({ HUB_URL: 'http://127.0.0.1:9', EGRESS_ALLOW, ...env })
  const { installed, close } = createSources({
    config,
    chains: { ...chains, ...overrides } as SourcesOptions['chains'],
    pool,
    now: clock.now,
    politeness: impatient,
  })
  onTestFinished(close)
  const pass = { pool, now: clock.now, random: () => 0.5, failed: () => {} }
  return {
    async read(name) {
      const source = installed.find((one) => one.name === name)
      if (!source) throw new Error(`there is no source ${name}`)
      const outcomes: string[] = []
      for (;;) {
        const result = await runPass(source, pass)
        if (result.leased === 0) return outcomes
        outcomes.push(...result.outcomes)
      }
    },
    async join() {
      const join = { pool, now: clock.now, settlementOverloads: 'spec', lookups: false } as const
      while ((await runJoin(join)) > 0);
    },
  }
}

/** Inserts a registration and its mint as the processors would; with a `fid`, its holder is verified by that FID. */
export async function mint(pool: pg.Pool, token: { chain?: ChainName; id: number; uri: string; fid?: number }) {
  const { chain = 'base', id, uri, fid } = token
  const owner = addressOf(fid === undefined ? `holder of ${id}` : `wallet of ${fid}`)
  await seedRegistration(pool, { chain, id, owner, uri })
  await insert(pool, 'registration_transfer', {
    id: `${chain}-${id}`,
    chain,
    agent_id: id,
    to: Buffer.from(owner.slice(2), 'hex'),
    block_number: 100,
    log_index: id,
    block_timestamp: birth,
    tx_hash: Buffer.from(hashOf(`mint ${id}`).slice(2), 'hex'),
  })
  if (fid === undefined) return
  const { rows } = await pool.query('select from verified_address where fid = $1', [fid])
  if (rows.length === 0) await seedVerification(pool, { fid, address: owner })
}

/** Updates a registration's URI as the processor does after `setAgentURI`. */
export async function setUri(pool: pg.Pool, id: number, uri: string) {
  await pool.query('update registration set agent_uri = $2, agent_uri_length = $3 where agent_id = $1', [
    id,
    uri,
    Buffer.byteLength(uri),
  ])
}

/** The profile as the API answers it; undefined: not in the index. */
export async function profileOf(pool: pg.Pool, fid: number) {
  const body = await agentProfile(pool, { fid, settlementOverloads: 'spec', installation })
  return body === undefined ? undefined : JSON.parse(body)
}

const installation = {
  registries: Object.fromEntries(chainNames.map((name) => [name, chainOf(name).registry.address])) as never,
  baseUrl: 'https://api.agents.example',
}

/** Stored fields of a registration's document; undefined: none stored. */
export async function documentOf(pool: pg.Pool, id: number) {
  const { rows } = await pool.query(
    `select uri_status, name, description, active, x402_support, services, supported_trust
       from registration_document where agent_id = $1`,
    [id],
  )
  return rows[0]
}

/** Schedule and outcome of reading a registration's URI; undefined: it is not scheduled. */
export async function stateOf(pool: pg.Pool, id: number) {
  const { rows } = await pool.query(
    `select due_at, priority, last_attempt_at, last_success_at, last_outcome, failures
       from source_state where source = 'agent_uri' and subject = $1`,
    [`token:base:${id}`],
  )
  return rows[0]
}

/** Inserts an agent whose registration names services that its host serves; the agent id equals the FID. */
export async function publish(
  pool: pg.Pool,
  host: WebHost,
  fid: number,
  { x402 = false, services = ['A2A', 'MCP'] } = {},
) {
  const endpoints = { A2A: '/.well-known/agent-card.json', MCP: '/mcp', web: '/' }
  const registration = {
    name: `agent ${fid}`,
    services: services.map((name) => ({ name, endpoint: `${host.url}${endpoints[name as keyof typeof endpoints]}` })),
  }
  const tokens = [{ chain: 'base', agentId: fid }] as const
  const pages = pagesOf({ name: `agent ${fid}`, description: '', url: host.url, registration, tokens, x402 })
  for (const [path, page] of pages) host.pages.set(path, page)
  await mint(pool, { id: fid, fid, uri: JSON.stringify(registration) })
}

/** What the profile shows of an agent's documents. */
export async function specsOf(pool: pg.Pool, fid: number) {
  const { agent_specs, spec_check_status, last_seen_at, last_spec_discovery_at } = await profileOf(pool, fid)
  return { ...agent_specs, spec_check_status, last_seen_at, last_spec_discovery_at }
}
