import type { documentKinds, SpecContent } from '../../db/queries/sources/agent-specs.ts'
import { toA2aCard } from './a2a.ts'
import { toMcpCard } from './mcp-card.ts'
import { toOpenApi } from './openapi.ts'
import { toX402Manifest } from './x402.ts'

export type SpecKind = (typeof documentKinds)[number]

/** Readers of parsed JSON values, by kind of document. Undefined: not a document of the kind. They never throw. */
export const readContent: Record<SpecKind, (value: unknown) => SpecContent | undefined> = {
  a2a: toA2aCard,
  mcp: toMcpCard,
  openapi: toOpenApi,
  web: () => undefined, // of a page only the status counts
  x402: toX402Manifest,
}

/**
 * Version of the readers. Raise it when they read more of a document than before, or read it otherwise: those that are stored are then asked for
 * without their tags, so that a host that says "unchanged" does not keep what an older version read.
 */
export const readerVersion = 5

/** Longest document in bytes, by kind; 0: its body is not read. Whole catalogues of an x402 seller have been seen with 800 kB. */
export const maxSpecBytes: Record<SpecKind, number> = {
  a2a: 256 * 1024,
  mcp: 256 * 1024,
  openapi: 2 * 1024 * 1024,
  web: 0,
  x402: 2 * 1024 * 1024,
}
