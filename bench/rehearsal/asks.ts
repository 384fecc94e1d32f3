import { routes } from '../../api/routes.ts'
import { recipientAddress } from '../../test/doubles/portal/generated-source.ts'
import { rankOf } from '../payment-chain.ts'

/** What a reader does. */
export interface Reading {
  readonly url: string
  /** Accounts 1 to this one are agents, who have the addresses that are paid most. */
  readonly agents: number
  /** Asked for is the half of them that is paid least; else those who are paid most are asked for most. */
  readonly isOfTheRest?: boolean
  /** Paths of the routes that are read; absent: all. */
  readonly routes?: readonly string[]
  /** Questions at once. */
  readonly readers: number
  /** After each answer. */
  readonly pauseMs: number
  /** How often each route is asked; absent: until it is told to stop. */
  readonly rounds?: number
}

/** Answers of a route. */
export interface Answered {
  readonly route: string
  readonly milliseconds: number[]
  /** With a status of 500 or more, and those that did not come. */
  readonly failures: string[]
}

interface Ask {
  readonly route: string
  /** What to ask the n-th time. */
  readonly path: (n: number) => string
}

/** Routes that say more, or nothing, without. */
const queries: Readonly<Record<string, (n: number) => string>> = {
  '/api/search': (n) => `q=agent${n % 50}`,
  '/api/discovery': (n) => `limit=${1 + (n % 30)}&sort=${n % 2 ? 'newest' : 'most-active'}`,
  '/api/settlements': (n) => `limit=${1 + (n % 100)}`,
  '/api/agent/{fid}/settlements': (n) => `limit=${n % 2 ? 50 : 100}`,
  '/data/log.ndjson': () => 'limit=100',
}

/** A question for every GET of the API, or for those that are named, of other agents each time. */
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
