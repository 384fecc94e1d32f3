/** Ids of chains on which nodes ask contract wallets. Source: snapchain, `src/core/validations/verification.rs`. */
export const walletChains: readonly number[] = [1, 10]

/** Last 32 bytes of a signature by a contract that is not deployed yet, hex. Source: ERC-6492. */
const undeployedMark = '6492'.repeat(16)

/** Number of the ERC by which a contract wallet is asked about a signature, hex. */
export const walletStandardOf = (signature: string) => (signature.endsWith(undeployedMark) ? '6492' : '1271')
