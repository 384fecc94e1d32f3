/**
 * The network's registries, on OP Mainnet, for the check of proofs: it must not take their addresses from the proof, and
 * is packed without the chain table, which says the same.
 */
export const registries = {
  chainId: 10,
  id: '0x00000000fc6c5f01fc30151999387bb99a9f489b',
  key: '0x00000000fc1237824fb747abde0ff18990e59b7e',
} as const
