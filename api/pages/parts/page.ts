import { z } from 'zod'
import type { Html } from '../../http/html.ts'
import { type Route, route, type Sources } from '../../http/route.ts'
import { type Exact, parseExact } from './exact-json.ts'

/** What pages are made from. */
export interface World extends Sources {
  /** The text of a 200 of the API, from the memory it shares with it. Undefined: 404. */
  readonly ask: (route: Route, input: Record<string, unknown>) => Promise<string | undefined>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** A page: what it takes, and what it shows. Undefined: there is no such page. */
interface Page<P extends z.ZodObject, Q extends z.ZodObject> {
  readonly path: string
  readonly params: P
  readonly query: Q
  readonly maxAgeSeconds: number
  readonly freshSeconds: number
  /** For people: what is missing when the page is not there. */
  readonly missing?: string
  readonly view: (input: z.output<P> & z.output<Q>) => Promise<Html | undefined>
}

/** Pages are answered like every other read: remembered for a while, compressed, with an entity tag. */
export function page<P extends z.ZodObject, Q extends z.ZodObject>({ view, ...definition }: Page<P, Q>): Route {
  return route({
    ...definition,
    operationId: definition.path,
    summary: 'A page for people.',
    answer: { type: htmlType, schema: z.string(), description: 'The page.' },
    errors: [],
    read: async (input: z.output<P> & z.output<Q>) => (await view(input))?.text,
  })
}

export const htmlType = 'text/html; charset=utf-8'

/** The answer of a route as an object, numbers exact. Undefined: 404. */
export async function askExact<T>(
  world: World,
  route: Route,
  input: Record<string, unknown>,
): Promise<Exact<T> | undefined> {
  const text = await world.ask(route, input)
  return text === undefined ? undefined : parseExact<T>(text)
}
