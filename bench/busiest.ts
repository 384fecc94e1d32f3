import { type ChainName, chainNames, chainOf } from '../chains.config.ts'

/** The chain with most settlements: the one whose settlement table is partitioned. */
export const busiestChain = chainNames.find((name) => chainOf(name).partitions !== null) as ChainName
