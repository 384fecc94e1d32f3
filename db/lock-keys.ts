/**
 * Keys of the advisory locks, all in one place so that no two are the same. Postgres keeps keys of one number and keys
 * of two apart.
 */
export const lockKeys = {
  migration: 80_043_009,
  join: 80_043_010,
  edges: 80_043_011,
} as const

/** First numbers of keys of two. */
export const lockClasses = {
  /** With a chain id: the chain's processor. */
  processor: 8_004,
  /** With a chain id: who reserves blocks for a backfill. */
  reservation: 8_005,
  /** With a backfill's id: the command that works on it. */
  backfillCommand: 8_006,
  /** With a chain id: who changes which recipients are known. */
  scope: 8_007,
  /** With the hash of a FID: who writes its verifications. */
  verifications: 8_008,
  /** With a chain id: who makes partitions of its settlements. */
  partitions: 8_009,
  /** With the hash of a FID: who appends to the events of its claims. Migration 1020 has it as a number. */
  claims: 8_010,
} as const
