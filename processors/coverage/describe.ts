import type { ChainCoverage } from '../../db/queries/log/coverage.ts'

/** Coverage of a chain for an operator, one line per fact. */
export function describeChain(chain: ChainCoverage): string {
  const { first_block, indexed_block, head_block, finalized_block, audited_blocks, unaudited_blocks } = chain
  const at =
    indexed_block === null ? 'not followed yet' : `at block ${indexed_block} of ${head_block}, final ${finalized_block}`
  const scope = chain.recipients === 'verified' ? ', settlements of verified addresses alone' : ''
  const lines = [`${chain.chain}: ${at}${scope}`]
  if (first_block === null) lines.push('no settlements')
  lines.push(...cut(chain.ranges_total, chain.ranges.length, 'ranges'))
  for (const { from_block, to_block, by, state } of chain.ranges) {
    const whose = `by ${by === 'processor' ? 'the processor' : 'a backfill'}`
    lines.push(
      `${from_block} to ${to_block}: ${state === 'archived' ? `indexed ${whose}, archived` : `${state} ${whose}`}`,
    )
  }
  if (audited_blocks + unaudited_blocks > 0) {
    lines.push(`of the blocks read from a node ${audited_blocks} are audited, ${unaudited_blocks} wait`)
  }
  lines.push(...cut(chain.certificates_total, chain.certificates.length, 'certificates'))
  for (const one of chain.certificates) {
    const sources = one.sources.length > 0 ? ` from ${one.sources.join(', ')}` : ''
    const mended = one.mended ? `, ${one.mended} mended` : ''
    lines.push(
      `certificate of ${one.from_block} to ${one.to_block}: ${one.settlements} settlements, amount ${one.amount}, checksum ` +
        `${one.checksum}, ${one.payments} payments beside them, checksum ${one.payment_checksum}${mended}; by ${one.by}${sources}, ${one.certified_at}`,
    )
  }
  for (const { from_block, to_block, command } of chain.gaps) {
    lines.push(`missing: ${from_block} ${to_block === null ? 'and on' : `to ${to_block}`}: ${command}`)
  }
  return lines.join('\n  ')
}

const cut = (total: number, shown: number, what: string) =>
  total > shown ? [`of ${total} ${what} those of the newest blocks:`] : []
