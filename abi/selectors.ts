/** The two calls that a settlement is defined by. Source: EIP-3009. */
export const listedSelectors = {
  transferWithAuthorization: '0xe3ee160e',
  receiveWithAuthorization: '0xef55bec6',
} as const

/** Calls of a settlement with the signature as bytes, for contract wallets. Source: FiatToken v2.2. */
const overloadSelectors = {
  transferWithAuthorization: '0xcf092995',
  receiveWithAuthorization: '0x88b7ab63',
} as const

export const settlementSelectors = [...Object.values(listedSelectors), ...Object.values(overloadSelectors)] as const
