import type { z } from 'zod'

/** Who reads settings: the commands, by name, and the Docker Compose file, which itself substitutes variables. */
export const readers = [
  ...(['migrate', 'processor', 'backfill', 'enrichment', 'api', 'graphql', 'export'] as const),
  'docker-compose.yml',
] as const
export type Reader = (typeof readers)[number]

/** One environment variable. An empty value counts as unset. */
export interface Setting {
  /** Schema that parses the variable's text. */
  readonly form: z.ZodType<unknown, string>
  /** Text that is parsed when the variable is unset. */
  readonly default?: string
  /** For the documentation: what happens when the variable is unset and has no default. */
  readonly unset?: string
  /** For the documentation: meaning and unit, in a few words. */
  readonly about: string
  /** For the documentation: further sentences for the operator. */
  readonly more?: string
  readonly readers: readonly Reader[]
}

/** Readers that index chains. */
export const processors = ['processor', 'backfill'] as const satisfies readonly Reader[]
