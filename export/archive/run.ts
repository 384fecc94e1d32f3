import type { ChainSettings } from '../../config/chains.file.ts'
import { countWithin } from '../../db/queries/chain/archive.ts'
import { copyOfSource } from '../../processors/backfill/verify.ts'
import { wantedOf } from '../../processors/history/history.ts'
import { sourceOf } from '../../processors/history/source-address.ts'
import { openHistory } from '../../processors/history/sources.ts'
import { type Archive, archivePartition, finishArchives } from './archive.ts'
import { candidatesOf, examine } from './candidates.ts'
import type { ArchiveRequest } from './request.ts'
import { checkArchives, restoreNewest } from './restore.ts'

/**
 * Runs the requested command. Throws a Refusal at the first partition that cannot be archived; earlier ones stay
 * archived.
 */
export async function runArchive(
  archive: Archive,
  { task, before, reload }: Pick<ArchiveRequest, 'task' | 'before' | 'reload'>,
): Promise<void> {
  const { chain, print } = archive
  if (task === 'check') return checkArchives(archive)
  if (task === 'restore') {
    if (!(await restoreNewest(archive, reload))) print(`nothing of ${chain.name} is archived`)
    return
  }
  if (task === 'plan') return printPlan(archive, before)
  await finishArchives(archive)
  const candidates = await candidatesOf(archive.pool, chain, before)
  for (const partition of candidates) await archivePartition(archive, partition)
  if (candidates.length === 0)
    print(`no partition of ${chain.name} that is in the database ends before ${before.slice(0, 10)}`)
}

async function printPlan({ pool, chain, print }: Archive, before: string): Promise<void> {
  const candidates = await candidatesOf(pool, chain, before)
  let rows = 0
  let bytes = 0
  for (const partition of candidates) {
    const { name, fromBlock, toBlock, obstacles, certified } = await examine(pool, chain, partition)
    const settlements = await countWithin(pool, chain.name, partition)
    const state = obstacles.length === 0 ? `sealed, ${certified.length} certificates` : obstacles.join('; ')
    print(`${name}, blocks ${fromBlock} to ${toBlock}: ${settlements} rows, ${partition.bytes} bytes; ${state}`)
    rows += settlements
    bytes += partition.bytes
  }
  print(`${candidates.length} partitions of ${chain.name}, ${rows} rows, ${bytes} bytes; nothing was changed`)
}

/** Reads settlements from the chain's archive, Portal or node again; `warn` is told of what it waits for. */
export function readerOf(
  chain: ChainSettings,
  portalKey: string | undefined,
  warn: (text: string) => void,
): Archive['readAgain'] {
  // Nothing was paid before the first token was there.
  const begin = Math.min(...chain.tokens.map((token) => token.fromBlock))
  return ({ fromBlock, toBlock }) => {
    const blocks = { firstBlock: Math.min(Math.max(fromBlock, begin), toBlock), lastBlock: toBlock }
    const history = openHistory(sourceOf(chain, portalKey), wantedOf(chain))
    return copyOfSource(history, chain, blocks, warn)
  }
}
