import type pg from 'pg'
import { type ChainName, chains } from '../../../config/chains.ts'
import { deriveWords } from '../../../db/queries/agents/agent-words.ts'
import { insertClaim } from '../../../db/queries/claims/claims.ts'
import { derivations } from '../../../derive/derivations.ts'
import { settle } from '../../../derive/pass.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { runIncome } from '../../derive/passes.ts'
import {
  addressOf,
  countSettlements,
  hashOf,
  insert,
  seedAgent,
  seedChainState,
  seedHolding,
  seedRegistration,
  seedSettlement,
} from '../seed.ts'

// A small directory with at least one of everything that the pages show.

const dayMs = 86_400_000

interface Shown {
  readonly handle: string
  readonly displayName: string
  readonly bio: string
  readonly oli: string | null
  readonly chains: ChainName[]
  readonly claimMethod?: 'eip191' | 'jfs' | 'well-known'
}

const shown: Shown[] = [
  {
    handle: 'tideline',
    displayName: 'Tideline Research',
    bio: 'Answers questions about coastal weather, tides and harbour traffic.\nPay per question, in cents.',
    oli: 'Data oracle',
    chains: ['ethereum', 'base', 'celo'],
    claimMethod: 'eip191',
  },
  {
    handle: 'ledgerwren',
    displayName: 'Ledger Wren',
    bio: 'Reconciles invoices against on-chain receipts.',
    oli: 'Accounting',
    chains: ['base', 'arbitrum'],
    claimMethod: 'jfs',
  },
  { handle: 'moss.eth', displayName: 'Moss', bio: 'A quiet gardener of wikis.', oli: null, chains: ['gnosis'] },
  {
    handle: 'quill',
    displayName: 'Quill & Co.',
    bio: 'Drafts and proofreads. English, Deutsch, Français.',
    oli: 'Writing',
    chains: ['optimism', 'polygon'],
    claimMethod: 'well-known',
  },
  { handle: 'parcelbot', displayName: 'Parcelbot', bio: 'Finds your parcel.', oli: null, chains: ['base'] },
  { handle: 'northstar', displayName: 'Nørdstår', bio: 'Routes freight at night.', oli: 'Logistics', chains: ['celo'] },
]

/** The first agent of the showcase, which has one of everything. */
export const richFid = 4207

/** Adds forty agents; times are counted back from `now`. */
export async function seedShowcase(pool: pg.Pool, now: number): Promise<void> {
  const before = (days: number) => new Date(now - days * dayMs)
  const chains: ChainName[] = ['ethereum', 'base', 'celo', 'arbitrum', 'optimism', 'polygon', 'gnosis']
  for (const [place, chain] of chains.entries()) {
    const indexed = 40_000_000 + place * 1_234_567
    await seedChainState(pool, { chain, indexed, finalized: indexed - 60, at: new Date(now - (place + 2) * 3_000) })
  }
  for (let n = 0; n < 40; n++) {
    const known = shown[n]
    const fid = richFid + n * 31
    const address = addressOf(`showcase ${n}`)
    const on = known?.chains ?? [chains[n % chains.length] as ChainName]
    await seedAgent(pool, {
      fid,
      handle: known?.handle ?? `agent-${n}`,
      displayName: known?.displayName ?? null,
      bio: known?.bio ?? null,
      oli: known?.oli ?? null,
      chains: on,
      addresses: [address],
      claimMethod: known?.claimMethod ?? null,
      claimedAt: before(12),
      registeredAt: before(80 + n),
      listedAt: before(n + 1),
      registryEventAt: before(n / 4 + 0.01),
      hasSpec: n % 3 === 0,
      settlements30d: Math.max(0, 60 - n * 9),
      settlementsAll: Math.max(0, 60 - n * 9),
    })
    if (known?.claimMethod) await seedClaim(pool, { fid, method: known.claimMethod, address, at: before(12) })
    for (const chain of on) {
      const token = { chain, id: 100 + n, at: before(80 + n) }
      await seedRegistration(pool, {
        ...token,
        owner: address,
        wallet: address,
        uri: `https://${known?.handle ?? 'agents'}.example/agent.json`,
      })
      await seedHolding(pool, { ...token, fid, by: address })
    }
    for (let paid = 0; paid < Math.max(0, 60 - n * 9); paid++) {
      const ago = ((paid * 7 + n * 3) % 29) * ((paid % 5) / 4) + 0.02
      await seedSettlement(pool, {
        chain: 'base',
        recipient: address,
        // Later blocks are later.
        block: 41_000_000 - Math.round(ago * 43_200),
        logIndex: n * 100 + paid,
        at: before(ago),
        payer: addressOf(`payer ${paid % 7}`),
        amount: BigInt(20_000 + ((paid * 37_511) % 2_500_000)),
      })
    }
  }
  await countSettlements(pool, new Date(now))
  await seedRich(pool, before)
}

/** A facilitator that sent every settlement of the showcase, once `seedTrail` gave it its name. */
export const knownFacilitator = 'Mill & Till'
/** Transaction in which the second agent of the showcase pays the first. */
export const paidByAgent = hashOf('tx base 39000000')

/**
 * Adds to the showcase what leads a reader on: words by which agents are found, feedback, a facilitator's name, a payment
 * by another agent and one of the first to itself. Before `sumUpIncome`.
 */
export async function seedTrail(pool: pg.Pool, now: number): Promise<void> {
  const paid = { chain: 'base', recipient: addressOf('showcase 0'), at: new Date(now - 20 * dayMs) } as const
  await seedSettlement(pool, { ...paid, payer: addressOf('showcase 1'), block: 39_000_000 })
  await seedSettlement(pool, { ...paid, payer: paid.recipient, block: 39_000_001 })
  await insert(pool, 'facilitator_sender', {
    address: Buffer.from(addressOf('facilitator').slice(2), 'hex'),
    name: knownFacilitator,
    source: 'x402scan',
  })
  await seedFeedback(pool, now)
  const { rows } = await pool.query<{ fid: string }>('select fid from agent')
  await deriveWords(
    pool,
    rows.map(({ fid }) => Number(fid)),
  )
}

interface SeedClaim {
  readonly fid: number
  readonly method: NonNullable<Shown['claimMethod']>
  readonly address: string
  readonly at: Date
}

/** Stores a claim as an accepted one, without a signature. */
async function seedClaim(pool: pg.Pool, { fid, method, address, at }: SeedClaim): Promise<void> {
  const nonce = hashOf(`claim ${fid}`).slice(2, 34)
  const timestamp = at.toISOString()
  const [proof, signer] = {
    eip191: [{ nonce, timestamp, chain_id: chains.base.id, signature: '0x' }, address],
    jfs: [{ jfs: { header: '', payload: '', signature: '' } }, hashOf(`app key ${fid}`)],
    'well-known': [{ manifest: { fid, nonce } }, `fid-${fid}.example`],
  }[method] as [object, string]
  await insertClaim(pool, {
    fid,
    method,
    nonce,
    proof,
    proofSha256: Buffer.from(hashOf(`proof ${fid}`).slice(2), 'hex'),
    signer,
    hostLink: null,
    manifestSha256: null,
    signedAt: at,
    receivedAt: at,
    claimedAt: at,
    verifiedAddresses: [address],
    evidence: '{}',
  })
}

/** Sums up the income of agents, by default the first, and makes figures of it, as the job does; seed everything before this. */
export async function sumUpIncome(pool: pg.Pool, fids: readonly number[] = [richFid]): Promise<void> {
  for (const fid of fids) await insert(pool, 'agent_change', { fid, kind: 'upsert', changed_at: new Date() })
  while ((await rollUpSettlements({ pool })) > 0);
  while ((await runIncome({ pool })) > 0);
  const figures = derivations.filter(({ kind }) => kind === 'figures')
  await settle(figures, { pool, now: () => new Date(), settlementOverloads: 'spec' })
}

/** Seeds what only one agent has: a document, services, specs, a registration it gave away. */
async function seedRich(pool: pg.Pool, before: (days: number) => Date): Promise<void> {
  const address = addressOf('showcase 0')
  for (const chain of ['ethereum', 'base', 'celo']) {
    await insert(pool, 'registration_document', {
      chain,
      agent_id: '100',
      uri_sha256: null,
      uri_status: 'ok',
      name: 'Tideline',
      updated_at: before(3),
      description: 'Coastal weather and tides by the question.',
      active: true,
      x402_support: true,
      services: JSON.stringify([
        { name: 'A2A', endpoint: 'https://tideline.example/.well-known/agent-card.json', version: '0.3.0' },
        { name: 'MCP', endpoint: 'https://tideline.example/mcp', version: '2025-06-18' },
      ]),
      supported_trust: JSON.stringify(['reputation']),
    })
  }
  await seedHolding(pool, {
    fid: richFid,
    chain: 'polygon',
    id: 7,
    by: address,
    block: 90,
    at: before(70),
    released: { reason: 'transfer', block: 120, at: before(40), to: addressOf('showcase 3'), toFid: richFid + 93 },
  })
  const checked = { last_check_at: before(0.01), first_seen_at: before(30), declared: true, has_content: true }
  await insert(pool, 'agent_spec', {
    ...checked,
    fid: richFid,
    kind: 'a2a',
    url: 'https://tideline.example/.well-known/agent-card.json',
    title: 'Tideline',
    version: '1.4.0',
    skills: ['tide-table', 'harbour-traffic', 'storm-watch'],
    tools: [],
    domain_verified: true,
    last_alive_at: before(0.01),
    last_check_status: 'ok',
    http_status: 200,
    latency_ms: 84,
    consecutive_failures: 0,
    prices: JSON.stringify(pricesOf(address)),
  })
  await insert(pool, 'agent_spec', {
    ...checked,
    fid: richFid,
    kind: 'mcp',
    url: 'https://tideline.example/mcp',
    title: 'Tideline MCP',
    version: null,
    skills: [],
    tools: ['ask', 'subscribe'],
    domain_verified: false,
    last_alive_at: before(2),
    last_check_status: 'timeout',
    http_status: null,
    latency_ms: null,
    consecutive_failures: 4,
  })
  await pool.query(
    `insert into spec_day (fid, day, kind, url, checks, alive, latency_ms)
     select s.fid, ($2::timestamptz at time zone 'UTC')::date - ago, s.kind, s.url, 4,
            case when s.kind = 'a2a' then 4 when ago < 3 then 0 when ago % 7 = 5 then 3 else 4 end, 90
       from agent_spec s, generate_series(0, 29) ago
      where s.fid = $1 and ago <> 20`,
    [richFid, before(0)],
  )
  await seedElsewhere(pool, Buffer.from(address.slice(2), 'hex'), before)
}

function pricesOf(payTo: string) {
  const none = { description: null, scheme: null, network: null, chain: null, asset: null, amount: null, payTo: null }
  const onBase = {
    scheme: 'exact',
    network: 'eip155:8453',
    chain: 'base',
    asset: chains.base.tokens[0]!.address,
    payTo,
  }
  const table = { ...none, ...onBase, amount: '20000', minUsd: '0.020000', maxUsd: '0.020000' }
  return [
    { ...table, resource: 'https://tideline.example/tides', description: 'The tides of one harbour for a week' },
    { ...none, resource: 'GET /storms', minUsd: '0.01', maxUsd: '0.25' },
  ]
}

/** Adds feedback on the first agent: from another agent that paid, a stranger and itself; one was revoked. */
export async function seedFeedback(pool: pg.Pool, now: number): Promise<void> {
  const given = [
    { client: addressOf('showcase 1'), value: '95', tag1: 'starred', tag2: 'tides', revoked: false },
    { client: addressOf('payer 1'), value: '-125', tag1: '<b>"storms"</b>', tag2: '', revoked: false },
    { client: addressOf('showcase 0'), value: '100', tag1: 'starred', tag2: '', revoked: false },
    { client: addressOf('payer 2'), value: '1', tag1: 'W'.repeat(300), tag2: '', revoked: true },
  ]
  for (const [n, { client, revoked, ...said }] of given.entries()) {
    const at = new Date(now - (n + 1) * 3_600_000)
    await insert(pool, 'feedback', {
      ...said,
      id: `base-100-${n}`,
      chain: 'base',
      agent_id: 100,
      client: Buffer.from(client.slice(2), 'hex'),
      feedback_index: 1,
      value_decimals: n === 1 ? 2 : 0,
      endpoint: '',
      feedback_uri: '',
      feedback_hash: Buffer.alloc(32),
      block_number: 41_100_000 - n,
      log_index: 0,
      block_timestamp: at,
      tx_hash: Buffer.from(hashOf(`feedback ${n}`).slice(2), 'hex'),
      revoked_block: revoked ? 41_100_001 : null,
      revoked_at: revoked ? at : null,
    })
  }
}

/** Seeds labels and profiles from other sources for the rich agent, and its edges. */
async function seedElsewhere(pool: pg.Pool, address: Buffer, before: (days: number) => Date): Promise<void> {
  const read = { fid: richFid, fetched_at: before(1) }
  const tag = { ...read, address, source: 'blockscout', chain: null, ordinal: 10 }
  await insert(pool, 'oli_tag', { ...tag, slug: 'data-oracle', name: 'Data oracle', tag_type: 'generic' })
  await insert(pool, 'oli_tag', { ...tag, slug: 'tideline', name: 'Tideline: Till', tag_type: 'name' })
  const identity = { ...read, sources: ['web3.bio'] }
  await insert(pool, 'agent_identity', {
    ...identity,
    platform: 'ens',
    identity: 'tideline.eth',
    display_name: 'tideline.eth',
    url: 'https://app.ens.domains/tideline.eth',
    follower_count: 84,
  })
  await insert(pool, 'agent_identity', { ...identity, platform: 'lens', identity: 'tideline', url: null })
  await insert(pool, 'codehost_profile', {
    ...read,
    asked_login: 'tideline',
    login: 'Tideline',
    user_id: 7_004_207,
    type: 'Organization',
    name: 'Tideline',
    url: 'https://github.com/Tideline',
    bio: 'Harmonic models of the tide.',
    followers: 212,
    following: 3,
    public_repos: 14,
    total_stars: 1_930,
    top_languages: ['TypeScript', 'Julia'],
    verified: true,
    account_created_at: before(900),
    last_push_at: before(2),
    source: 'socialindex',
  })
  const edge = { fid: richFid, weight: 1, first_seen_at: before(60), last_seen_at: before(2) }
  const [wren, moss, quill, parcel, north] = [1, 2, 3, 4, 5].map((n) => richFid + n * 31)
  await insert(pool, 'agent_edge', { ...edge, peer: wren, kind: 'follows', direction: 'out' })
  await insert(pool, 'agent_edge', { ...edge, fid: wren, peer: richFid, kind: 'follows', direction: 'out' })
  await insert(pool, 'agent_edge', { ...edge, peer: moss, kind: 'feedback', direction: 'in', chain: 'base', weight: 3 })
  const paid = { chain: 'base', weight: 12, amount: '4200000' }
  await insert(pool, 'agent_edge', { ...edge, ...paid, peer: parcel, kind: 'settlement', direction: 'in' })
  await insert(pool, 'agent_edge', { ...edge, peer: quill, kind: 'transfer', direction: 'out', chain: 'polygon' })
  await insert(pool, 'agent_edge', { ...edge, peer: north, kind: 'shared_host', direction: 'both' })
}
