import { type ChainName, chainNames, chainOf } from '../chains.config.ts'

/** The chain that most settlements are on: the one whose settlements are divided. */
export const busiestChain = chainNames.find((name) => chainOf(name).partitions !== null) as ChainName
