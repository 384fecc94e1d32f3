import { createHash } from 'node:crypto'

/** Metadata key that the registry reserves for the wallet; any other spelling is an ordinary key. */
export const walletKey = 'agentWallet'

const hashDigits = 32

/**
 * How the id of a metadata row ends, behind its registration: sixteen bytes of the key's SHA-256, as hex. The key as text is
 * cleaned and cut, so that different keys can read the same.
 */
export function keyDigest(key: string | Buffer): string {
  return createHash('sha256').update(key).digest('hex').slice(0, hashDigits)
}
