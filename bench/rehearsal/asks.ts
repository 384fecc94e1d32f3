import { routes } from '../../api/routes.ts'
import { recipientAddress } from '../../test/doubles/portal/generated-source.ts'
import { rankOf } from '../payment-chain.ts'

/** Task of a reader process. */
export interface Reading {
  readonly url: string
  /** Accounts 1 to this one are agents, who have the addresses that are paid most. */
  readonly agents: number
  /** True: reads only the half of the agents that is paid least; else those who are paid most are read most. */
  readonly isOfTheRest?: boolean
  /** Paths of the routes that are read; absent: all. */
  readonly routes?: readonly string[]
  /** Concurrent requests. */
  readonly readers: number
  /** Pause of a reader after each answer, in milliseconds. */
  readonly pauseMs: number
  /** Requests per route; absent: until it is told to stop. */
  readonly rounds?: number
}

/** Latencies and failures of one route. */
export interface Answered {
  readonly route: string
  readonly milliseconds: number[]
  /** Answers with a status of 500 or more, and requests without an answer. */
  readonly failures: string[]
}

interface Ask {
  readonly route: string
  /** Path and query of the n-th request. */
  readonly path: (n: number) => string
}

/** Queries of the routes that need one, or that answer differently with one. */
const queries: Readonly<Record<string, (n: number) => string>> = {
  '/api/search': (n) => `q=agent${n % 50}`,
  '/api/discovery': (n) => `limit=${1 + (n % 30)}&sort=${n % 2 ? 'newest' : 'most-active'}`,
  '/api/settlements': (n) => `limit=${1 + (n % 100)}`,
  '/api/agent/{fid}/settlements': (n) => `limit=${n % 2 ? 50 : 100}`,
  '/data/log.ndjson': () => 'limit=100',
}

/** Requests for every GET route of the API, or for the named ones, about other agents each time. */
export function asksOf({ agents, isOfTheRest, routes: named }: Omit<Reading, 'url'>): Ask[] {
  const agent = (n: number) => (isOfTheRest ? agents - (n % Math.ceil(agents / 2)) : rankOf(n, agents))
  const values: Readonly<Record<string, (n: number) => string>> = {
    fid: (n) => String(agent(n)),
    address: (n) => recipientAddress(agent(n)),
    code: () => 'ERR_NOT_FOUND',
  }
  const asked = routes.filter(({ path }) => named?.includes(path) ?? true)
  return asked.map(({ path }) => ({
    route: path,
    path(n) {
      const query = queries[path]?.(n)
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name]?.(n) ?? '1')
      return query ? `${filled}?${query}` : filled
    },
  }))
}
