/** Ids of chains on which nodes ask contract wallets. Source: snapchain, `src/core/validations/verification.rs`. */
export const walletChains: readonly number[] = [1, 10]
