import { isoTime } from './json-text.ts'

// What partitions of settlements that were taken out of the database mean for statements. Arguments are SQL expressions
// written in this folder, never values.

/** The last archived block of a chain; -1: nothing of it is archived. */
export const archivedTo = (chain: string) =>
  `coalesce((select a.to_block from settlement_archived a where a.chain = ${chain}), -1)`

/** Whether settlements of an hour are archived, some or all: what was summed up of it stays as it is. */
export const isArchived = (chain: string, hour: string) =>
  `exists (select from settlement_archived a where a.chain = ${chain} and ${hour} <= a.until)`

/** Since when all settlements of some chains are there, as text; null: nothing of them is archived. `chains`: null for all. */
export const availableSince = (chains: string) =>
  `(select ${isoTime('max(a.available_since)')} from settlement_archived a
     where ${chains} is null or a.chain = any (${chains}))`
