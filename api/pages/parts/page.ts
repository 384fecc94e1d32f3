import { z } from 'zod'
import { type Route, route, type Sources } from '../../http/route.ts'
import { type Exact, parseAnswer } from './exact-json.ts'
import type { Html } from './html.ts'

/** What pages are made from. */
export interface World extends Sources {
  /** Body that the API answers with 200, through the cache that pages and API share. Undefined: it answers 404. */
  readonly ask: (route: Route, input: Record<string, unknown>) => Promise<string | undefined>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** A page: its parameters, its cache times and its view, which gives undefined when there is no such page. */
interface Page<P extends z.ZodObject, Q extends z.ZodObject> {
  readonly path: string
  readonly params?: P
  readonly query?: Q
  readonly maxAgeSeconds: number
  readonly freshSeconds: number
  /** Words of the 404 page for people. */
  readonly missing?: string
  readonly view: (input: z.output<P> & z.output<Q>) => Promise<Html | undefined>
}

/** Makes a page a route, so that it is cached, compressed and tagged like every other read. */
export function page<P extends z.ZodObject, Q extends z.ZodObject>({ view, ...definition }: Page<P, Q>): Route {
  return route({
    ...definition,
    operationId: definition.path,
    summary: 'A page for people.',
    answer: { type: htmlType, schema: z.string(), description: 'The page.' },
    read: async (input: z.output<P> & z.output<Q>) => (await view(input))?.text,
  })
}

export const htmlType = 'text/html; charset=utf-8'

/** Answer of an API route as an object, with exact numbers as text. Undefined: the API answers 404. */
export async function askExact<T>(
  world: World,
  route: Route,
  input: Record<string, unknown>,
): Promise<Exact<T> | undefined> {
  const text = await world.ask(route, input)
  return text === undefined ? undefined : parseAnswer<T>(text)
}
