import { events } from '../../abi/generated/identity-registry.ts'
import type { ChainSettings } from '../../config/chains.file.ts'
import { addressOf, type ChainBlock } from './block.ts'

/** A proxy's new implementation. Addresses are lowercase hex. */
export interface Upgrade {
  readonly block: number
  /** Milliseconds since 1970. */
  readonly timestamp: number
  readonly contract: string
  readonly implementation: string
}

/**
 * Upgrades of a chain's registries and tokens: their events may mean something else from then on.
 *
 * Source: EIP-1967. Proxies older than it log the implementation as data, not as a topic.
 */
export function upgradesIn(
  { registry, reputation, tokens }: Pick<ChainSettings, 'registry' | 'reputation' | 'tokens'>,
  blocks: readonly ChainBlock[],
): Upgrade[] {
  const contracts = new Set([registry, reputation, ...tokens].map(({ address }) => address))
  return blocks.flatMap(({ header, logs }) =>
    logs
      .filter(({ address, topics }) => topics[0] === events.Upgraded.topic && contracts.has(address))
      .map(({ address, topics, data }) => ({
        block: header.height,
        timestamp: header.timestamp,
        contract: address,
        implementation: addressOf(topics[1] ?? data),
      })),
  )
}
