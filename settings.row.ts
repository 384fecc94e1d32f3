import type { z } from 'zod'

/** Who reads settings: the commands by their names, and the file of Docker Compose for itself. */
export const readers = [
  ...(['migrate', 'processor', 'backfill', 'enrichment', 'api', 'graphql', 'export'] as const),
  'docker-compose.yml',
] as const
export type Reader = (typeof readers)[number]

/** One environment variable. An empty value counts as unset. */
export interface Setting {
  /** Reads its text. */
  readonly form: z.ZodType<unknown, string>
  /** Text that is read when it is unset. */
  readonly default?: string
  /** What its absence means, where there is no default. */
  readonly unset?: string
  /** Meaning and unit, in a few words. */
  readonly about: string
  /** Sentences for who sets it. */
  readonly more?: string
  readonly readers: readonly Reader[]
}

/** Readers that index chains. */
export const processors = ['processor', 'backfill'] as const satisfies readonly Reader[]
