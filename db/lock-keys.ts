/**
 * Keys of the advisory locks, all in one place so that no two are the same. Postgres keeps keys of one number and keys
 * of two apart.
 */
export const lockKeys = {
  migration: 80_043_009,
  join: 80_043_010,
  edges: 80_043_011,
} as const

/** First number of each two-number key. */
export const lockClasses = {
  /** The second number is a chain id: held by the chain's processor. */
  processor: 8_004,
  /** The second number is a chain id: held while blocks are reserved for a backfill. */
  reservation: 8_005,
  /** The second number is a backfill's id: held by the command that works on it. */
  backfillCommand: 8_006,
  /** The second number is a chain id: held while the set of known recipients changes. */
  scope: 8_007,
  /** The second number is the hash of a FID: held while its verified addresses are written. */
  verifications: 8_008,
  /** The second number is a chain id: held while partitions of its settlements are created. */
  partitions: 8_009,
  /**
   * The second number is the hash of a FID: held while claim events are appended. db/schema/tables/09_claims.sql contains this number.
   */
  claims: 8_010,
  /** The second number is a chain id: held while a partition of its settlements is detached. */
  detachment: 8_011,
  /** The second number is the hash of a kind of derivation: held while keys of it are derived. */
  derivation: 8_012,
  /**
   * The second number is the hash of a chain's name: held while payments are written that find their payer in each other.
   * db/schema/tables/04_settlements.sql contains this number.
   */
  funders: 8_013,
} as const
