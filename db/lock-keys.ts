/**
 * Keys of the advisory locks, all in one place so that no two are the same. Postgres keeps keys of one number and keys
 * of two apart.
 */
export const lockKeys = {
  migration: 80_043_009,
  join: 80_043_010,
  edges: 80_043_011,
  directorySums: 80_043_012,
} as const

/** The first number of each key that is made of two. */
export const lockClasses = {
  /** The second number is a chain id: held by the chain's processor. */
  processor: 8_004,
  /** The second number is a chain id: held by who reserves blocks for a backfill. */
  reservation: 8_005,
  /** The second number is a backfill's id: held by the command that works on it. */
  backfillCommand: 8_006,
  /** The second number is a chain id: held by who changes which recipients are known. */
  scope: 8_007,
  /** The second number is the hash of a FID: held by who writes its verifications. */
  verifications: 8_008,
  /** The second number is a chain id: held by who makes partitions of its settlements. */
  partitions: 8_009,
  /** With the hash of a FID: who appends to the events of its claims. Migration 1020 has it as a number. */
  claims: 8_010,
} as const
