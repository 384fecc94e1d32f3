import { isoTime } from './json-text.ts'

// Fragments of statements about what has become of blocks: archived, so that their settlements were taken out of the
// database with their partition, or rolled up. Arguments are SQL expressions written in this folder, never values.

/** The last archived block of a chain; -1: nothing of it is archived. */
export const archivedTo = (chain: string) =>
  `coalesce((select a.to_block from settlement_archived a where a.chain = ${chain}), -1)`

/** Whether settlements of an hour are archived, some or all: what was summed up of it stays as it is. */
export const isArchived = (chain: string, hour: string) =>
  `exists (select from settlement_archived a where a.chain = ${chain} and ${hour} <= a.until)`

/**
 * Time from which on all settlements of `chains` (null: all) are stored, as text; null: nothing is archived. `missed`: a
 * condition on what is archived of a chain, `a`, without which it does not matter.
 */
export const availableSince = (chains: string, missed = 'true') =>
  `(select ${isoTime('max(a.available_since)')} from settlement_archived a
     where (${chains} is null or a.chain = any (${chains})) and ${missed})`

/**
 * Common table expression with the ranges of blocks that are not rolled up. Read once by whatever asks for each row: they
 * are few, but each block moves one, and a long snapshot keeps what it was.
 */
export const unrolledBlocks = 'unrolled_blocks as materialized (select * from settlement_unrolled)'

/** Whether the block of a settlement or payment is rolled up, in a statement with `unrolledBlocks`. */
export const isRolledUp = (payment: string) => `not exists (
          select from unrolled_blocks u
           where u.chain = ${payment}.chain and ${payment}.block_number between u.from_block and u.to_block)`
