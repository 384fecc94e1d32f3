/**
 * The network's registries, on OP Mainnet, and the block that logs of theirs are searched from, for the check of proofs: it must not take their addresses from the proof, and
 * is packed without the chain table, which says the same.
 */
export const registries = {
  chainId: 10,
  fromBlock: 108864739n,
  id: '0x00000000fc6c5f01fc30151999387bb99a9f489b',
  key: '0x00000000fc1237824fb747abde0ff18990e59b7e',
  /** Of agents (ERC-8004), at the same address on every chain. */
  identity: '0x8004a169fb4a3325136eb29fa0ceb6d2e539a432',
} as const
