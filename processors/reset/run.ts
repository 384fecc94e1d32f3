import type pg from 'pg'
import type { ChainSettings } from '../../config/chains.file.ts'
import { readChainState } from '../../db/queries/chain/chain-state.ts'
import { readFinalBlocks } from '../../db/queries/chain/final-blocks.ts'
import { registrationsChangedAbove } from '../../db/queries/chain/reset.ts'
import { Refusal } from '../../ops/cli.ts'
import { createLogger } from '../../ops/logger.ts'
import { checkNode } from '../checks.ts'
import type { ProcessorConfig } from '../config.ts'
import { openFinalChain } from './reader.ts'
import { registrationsAt } from './registrations.ts'
import { resetAll, resetTo } from './reset.ts'
import { findTarget } from './target.ts'

/**
 * Takes a chain back to a block, or all of it when `to` is undefined. Returns a line that says what was deleted.
 *
 * Throws a Refusal when the block is not one that was final, both here and at the chain's source.
 */
export async function runReset(
  pool: pg.Pool,
  { chain, portalKey }: Pick<ProcessorConfig, 'chain' | 'portalKey'>,
  to: number | undefined,
): Promise<string> {
  const { name } = chain
  if (to !== undefined) return takeBack(pool, chain, portalKey, to)
  await resetAll(pool, chain)
  return `${name}: everything is deleted; the next processor begins with the chain's first block`
}

async function takeBack(pool: pg.Pool, chain: ChainSettings, portalKey: string | undefined, to: number) {
  const { name } = chain
  const state = await readChainState(pool, name)
  if (!state) throw new Refusal(`${name} is not indexed yet: there is nothing to reset`)
  if (to >= state.finalizedBlock) {
    throw new Refusal(
      `${name} is final up to block ${state.finalizedBlock}; what is above it is undone automatically; choose a block below it`,
    )
  }
  const source = openFinalChain(chain, portalKey, createLogger(`reset-${name}`, 'warn'))
  if (source.node) await checkNode(source.node, chain)
  const final = await source.height()
  if (to > final) throw new Refusal(`the newest final block of ${name} is ${final} now; choose that or one below it`)
  const target = await findTarget(chain, to, await readFinalBlocks(pool, name), source)
  const changed = await registrationsChangedAbove(pool, name, target.height)
  const older = await registrationsAt(target.height, changed, chain, source)
  const settlements = await resetTo(pool, chain, state, target, older)
  const reason = target.height < to ? ` (the chain was a different one at ${to})` : ''
  const count = older.registrations.length
  return (
    `${name}: back at block ${target.height}${reason}, from ${state.indexedBlock}: ${settlements} settlements deleted, ` +
    `and everything else above the block, ${changed.length - count} new registrations among it; ${count} older ` +
    'registrations that changed above it are again what they were there; start its processor again'
  )
}
