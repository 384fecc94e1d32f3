import type { ChainSettings } from '../../config/chains.file.ts'
import { type ContractEvents, eventsOfBlock } from './contract-events.ts'
import { byBlock, textOf } from './judge.ts'
import { DisputedRows, type NodeWord } from './node-word.ts'

/** Blocks that the node is asked about before one list of differing rows is mended; with more it stays as it is. */
export const mostAsked = 200

/** A block that stored rows name which the history source does not have, and a transaction of theirs. */
interface Named {
  readonly blockNumber: number
  /** Lowercase hex; null: not known. */
  readonly txHash: string | null
}

interface Asked {
  readonly chain: ChainSettings
  readonly node: NodeWord
  /** Events of these blocks as the history source has them. */
  readonly events: ContractEvents
  /** Whether an event belongs to the rows that differ. */
  readonly isMeant: (event: object) => boolean
  /** What the rows belong to, for messages. */
  readonly of: string
}

/**
 * Asks the node for the events of blocks that differing rows name. Throws DisputedRows when it has one that the history
 * source lacks: the rows may rest on it.
 */
export async function confirmEvents(
  named: readonly Named[],
  { chain, node, events, isMeant, of }: Asked,
): Promise<void> {
  const blocks = byBlock(named)
  if (blocks.size > mostAsked) {
    throw new DisputedRows(
      `the rows of ${of} in more than ${mostAsked} blocks are not as the history has them`,
      named.length,
    )
  }
  let disputed = 0
  for (const [height, rows] of blocks) {
    const transactions = rows.flatMap(({ txHash }) => txHash ?? [])
    const block = await node.blockAt({ height, hash: undefined, transactions })
    const said = block && listOf(eventsOfBlock(chain, block)).filter(isMeant).map(textOf)
    const known = new Set(
      listOf(events)
        .filter((event) => blockOf(event) === height)
        .map(textOf),
    )
    disputed += said ? said.filter((event) => !known.has(event)).length : rows.length
  }
  if (disputed > 0) {
    throw new DisputedRows(
      `the history lacks ${disputed} events of ${of} that the node confirms; the rows stay`,
      disputed,
    )
  }
}

const listOf = ({ registrations, feedback, responses, custody, operators }: ContractEvents) => [
  ...registrations,
  // Deriving the rows of feedback marks those that were revoked later.
  ...feedback.map((event) => (event.kind === 'given' ? { ...event.row, revokedBlock: null, revokedAt: null } : event)),
  ...responses,
  ...custody,
  ...operators,
]

const blockOf = ({ blockNumber }: { readonly blockNumber: number }) => blockNumber
