import { busiestChain } from '../config/chains.ts'
import { readingLimits } from '../config/limits.ts'
import type { Queryable } from '../db/pool.ts'
import { addressPortfolio } from '../db/queries/addresses/portfolio.ts'
import { addressOwners, agentState } from '../db/queries/agents/as-of.ts'
import { agentProfiles } from '../db/queries/agents/profile.ts'
import { discoveryPage, discoverySorts } from '../db/queries/directory/discovery.ts'
import type { DiscoveryFilter } from '../db/queries/directory/discovery-filter.ts'
import { discoveryFacets } from '../db/queries/directory/facets.ts'
import { searchAgents } from '../db/queries/directory/search.ts'
import { payeeFacts } from '../db/queries/documents/payee.ts'
import { agentPrices } from '../db/queries/documents/prices.ts'
import { agentFeedback, everyFeedback } from '../db/queries/feedback/page.ts'
import { incomePayments } from '../db/queries/income/payments.ts'
import { leaderboard } from '../db/queries/leaderboard/leaderboard.ts'
import { agentRegistrations } from '../db/queries/registrations/registrations.ts'
import { allSettlements } from '../db/queries/settlements/all-settlements.ts'
import { bucketsOf, type Interval } from '../db/queries/settlements/buckets.ts'
import { settlementPage } from '../db/queries/settlements/settlements.ts'
import { settlementSeries } from '../db/queries/settlements/timeseries.ts'
import type { Installation } from '../db/queries/sql/installation.ts'
import { day } from '../ops/time.ts'

export interface Statement {
  readonly name: string
  readonly run: (db: Queryable) => Promise<unknown>
  readonly isRare?: boolean
}

const settlementOverloads = 'spec' as const
const everyone = { chain: null, claimed: null, spec: null, codehost: null }
type DiscoverySort = (typeof discoverySorts)[number]
const payersUpTo = readingLimits.payerSettlements

/** Statements of lists, batches and series for the busiest agent and others; addresses are lowercase hex. */
export function listStatements({
  busiestFid,
  installation,
  payer,
  facilitator,
  recipient,
}: {
  readonly busiestFid: number
  readonly installation: Installation
  readonly payer: string
  readonly facilitator: string
  readonly recipient: string
}): Statement[] {
  const now = Date.now()
  const daysAgo = (days: number) => new Date(now - days * day).toISOString()
  const none = {
    chain: null,
    payer: null,
    facilitator: null,
    selector: null,
    min_amount: null,
    max_amount: null,
    since: null,
    until: null,
    final: null,
  }
  const everybody = { ...none, fid: null, recipient: null, tx_hash: null }
  const page = { limit: 100, settlementOverloads, order: 'desc' as const, after: undefined }
  const ofBusiest = (name: string, filter: object, order: 'asc' | 'desc' = 'desc'): Statement => ({
    name: `settlements of the busiest, ${name}`,
    run: (db) => settlementPage(db, { ...page, fid: busiestFid, order, filter: { ...none, ...filter } }),
  })
  const ofAll = (name: string, filter: object): Statement => ({
    name: `settlements, ${name}`,
    run: (db) => allSettlements(db, { ...page, filter: { ...everybody, ...filter } }),
  })
  const word = (name: string, q: string, filter: Partial<DiscoveryFilter> = {}): Statement => ({
    name: `search, ${name}`,
    run: (db) => searchAgents(db, { q, parts: null, filter: { ...everyone, ...filter }, limit: 20, offset: 0 }),
  })
  const facets = (name: string, filter: Partial<DiscoveryFilter>, isSearch: boolean): Statement => ({
    name: `facets, ${name}`,
    run: (db) => discoveryFacets(db, { q: null, ...everyone, ...filter }, isSearch),
  })
  const series = (name: string, fid: number | null, interval: Interval): Statement => {
    const { starts, end } = bucketsOf(interval, { since: null, until: null, now })
    return {
      name: `timeseries, ${name}`,
      run: (db) => settlementSeries(db, { fid, starts, end, chain: null, settlementOverloads, payersUpTo }),
    }
  }
  const totalAt = async (change: number) => ({ total: 0, change })
  const found = (
    name: string,
    filter: Partial<DiscoveryFilter>,
    { sort = 'newest', offset = 0 }: { sort?: DiscoverySort; offset?: number } = {},
  ): Statement => ({
    name: `discovery, ${name}`,
    run: (db) =>
      discoveryPage(
        db,
        { q: null, ...everyone, ...filter },
        { sort, limit: 30, from: { offset }, fields: null },
        { early: () => totalAt(0), totalAt, leftOut },
      ),
  })
  /** A numbered page far from the beginning. */
  const farOn = discoverySorts.flatMap((sort) => [
    found(`${sort}, behind 90,000`, {}, { sort, offset: 90_000 }),
    found(`${sort}, on a chain, behind 10,000`, { chain: [busiestChain] }, { sort, offset: 10_000 }),
    found(`${sort}, a word of many, behind 20,000`, { q: 'falcon' }, { sort, offset: 20_000 }),
  ])
  const registrations = (state: 'current' | 'historical'): Statement => ({
    name: `registrations of an agent, ${state}`,
    run: (db) => agentRegistrations(db, { fid: 20, state, chain: null, limit: 100, after: undefined, installation }),
  })
  /** A page deep in a cursor walk through discovery. */
  const walked = (sort: DiscoverySort, after: string[]): Statement => ({
    name: `discovery, ${sort}, far on in a walk`,
    run: (db) =>
      discoveryPage(
        db,
        { q: null, ...everyone },
        { sort, limit: 100, from: { after }, fields: null },
        { early: () => totalAt(0), totalAt, leftOut },
      ),
  })
  const middle = String(Date.UTC(2026, 3, 1) * 1_000)
  const leftOut = () => {}
  const ranking = {
    period: '30d',
    by: 'payers',
    chain: busiestChain,
    excludeSelf: true,
    limit: 100,
    now,
    leftOut,
  } as const
  return [
    word('a word of many', 'falcon'),
    word('two words', 'falcon harbor'),
    word('a word of a description', 'settles'),
    word('a slip', 'falcno'),
    word('a word of many, of claimed agents on a chain', 'falcon', { claimed: true, chain: [busiestChain] }),
    word('a word that everybody says, and nobody fits', 'settles', { skill: ['none'] }),
    facets('of everybody', {}, false),
    facets('of a chain', { chain: [busiestChain] }, false),
    facets('of a word of many', { q: 'falcon' }, false),
    facets('of a word of many on a chain', { q: 'falcon', chain: [busiestChain] }, false),
    facets('of a search for a word of many', { q: 'falcon' }, true),
    facets('of a search, of claimed agents', { q: 'falcon', claimed: true }, true),
    facets('of a search, on a chain', { q: 'falcon', chain: [busiestChain] }, true),
    word('a handle', '@falcon-trade15'),
    ofBusiest('of a payer', { payer }),
    ofBusiest('of a week, oldest first', { since: daysAgo(30), until: daysAgo(23) }, 'asc'),
    ofBusiest('above what there is', { min_amount: '1000' }),
    ofAll('of a payer', { payer }),
    ofAll('of a facilitator', { facilitator }),
    ofAll('of a recipient', { recipient }),
    ofAll('of an agent', { fid: String(busiestFid) }),
    ofAll('of a transaction', { tx_hash: `0x${'00'.repeat(32)}` }),
    ofAll('since yesterday', { since: daysAgo(1) }),
    {
      name: 'agents, a batch of 100',
      run: (db) =>
        agentProfiles(db, {
          fids: Array.from({ length: 100 }, (_, n) => 2 + n * 7),
          addresses: [],
          settlementOverloads,
          installation,
        }),
    },
    registrations('current'),
    registrations('historical'),
    { name: 'prices of an agent', run: (db) => agentPrices(db, 20) },
    {
      name: 'payee of an endpoint',
      run: (db) =>
        payeeFacts(db, {
          agent: null,
          payTo: null,
          endpoint: {
            url: 'https://nobody.example/',
            given: 'https://nobody.example/',
            origin: 'https://nobody.example',
          },
          network: null,
          asOf: null,
        }),
    },
    { name: 'state of an agent, a week ago', run: (db) => agentState(db, 20, now - 7 * day) },
    { name: 'owners of an address, a week ago', run: (db) => addressOwners(db, recipient, now - 7 * day) },
    { name: 'portfolio', run: (db) => addressPortfolio(db, { address: recipient, settlementOverloads }) },
    series('an agent, 30 days', 20, 'day'),
    series('the busiest, 30 days', busiestFid, 'day'),
    series('the busiest, 30 hours', busiestFid, 'hour'),
    series('everybody, 30 days', null, 'day'),
    found('paid often, seen lately', { min_settlements: '10', seen_since: daysAgo(30) }),
    found('registered in a week', { registered_since: daysAgo(67), registered_until: daysAgo(60) }),
    ...farOn,
    walked('newest', [middle, '20']),
    walked('oldest', [middle, '20']),
    walked('cross-chain', ['1', '1', '20']),
    walked('most-active', ['1', '10', '20']),
    walked('most-earned', ['0', '0', '20']),
    { name: 'ranking by payers on a chain', run: (db) => leaderboard(db, { ...ranking, daysAgo: null }) },
    { name: 'ranking with its change', run: (db) => leaderboard(db, { ...ranking, daysAgo: 1 }) },
  ]
}

/** Lists over the rows of `fillContractRows`. */
export function contractLists(busiestFid: number): Statement[] {
  const payments = (name: string, order: 'asc' | 'desc', since: string | null): Statement => ({
    name: `payments of the busiest agent's income, ${name}`,
    run: (db) =>
      incomePayments(db, { fid: busiestFid, limit: 100, order, filter: { chain: null, since, until: null } }),
  })
  const feedback = (name: string, filter: { readonly paid: boolean | null }): Statement => ({
    name: `feedback of an agent, ${name}`,
    run: (db) =>
      agentFeedback(db, {
        fid: busiestFid,
        limit: 100,
        filter: { ...everyFeedback, ...filter },
        after: undefined,
      }),
  })
  return [
    payments('newest', 'desc', null),
    payments('of a month, oldest first', 'asc', new Date(Date.now() - 30 * day).toISOString()),
    feedback('newest', { paid: null }),
    feedback('by who did not pay it', { paid: false }),
  ]
}
