import { isoTime } from './json-text.ts'

// Fragments of statements about archived settlements, whose partitions were taken out of the database. Arguments are
// SQL expressions written in this folder, never values.

/** The last archived block of a chain; -1: nothing of it is archived. */
export const archivedTo = (chain: string) =>
  `coalesce((select a.to_block from settlement_archived a where a.chain = ${chain}), -1)`

/** Whether settlements of an hour are archived, some or all: what was summed up of it stays as it is. */
export const isArchived = (chain: string, hour: string) =>
  `exists (select from settlement_archived a where a.chain = ${chain} and ${hour} <= a.until)`

/** Time from which on all settlements of `chains` (null: all) are stored, as text; null: nothing is archived. */
export const availableSince = (chains: string) =>
  `(select ${isoTime('max(a.available_since)')} from settlement_archived a
     where ${chains} is null or a.chain = any (${chains}))`
