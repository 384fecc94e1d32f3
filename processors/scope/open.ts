import type { Logger } from 'pino'
import type { ChainSettings } from '../../config/chains.file.ts'
import { createPool } from '../../db/pool.ts'
import { boundedFailures, Retries, retrying } from '../../hosts/retries.ts'
import { wantedOf } from '../history/history.ts'
import { sourceOf } from '../history/source-address.ts'
import { findCallsIn, openHistory, openWitness } from '../history/sources.ts'
import { ScopeLoader } from './loader.ts'
import { updateRecipients } from './recipients.ts'
import { keepAll, keepVerified, type Scope } from './scope.ts'

interface ScopeOptions {
  readonly databaseUrl: string
  readonly chain: ChainSettings
  readonly scope: Scope
  /** API key of the Portal; undefined: requests carry none. */
  readonly portalKey: string | undefined
  readonly log: Logger
}

interface OpenScope {
  /** First block whose settlements the processor reads itself. */
  readonly ownFrom: number
  readonly loader: ScopeLoader
}

/**
 * Prepares the chain's rows for the scope that is set, before the processor writes any. Undefined: the settlements of
 * every recipient are kept. Throws a Refusal when the rows that are there do not allow it.
 */
export async function openScope({
  databaseUrl,
  chain,
  scope,
  portalKey,
  log,
}: ScopeOptions): Promise<OpenScope | undefined> {
  if (chain.tokens.length === 0) return undefined
  const pool = createPool({ databaseUrl, name: `processor ${chain.name} start`, max: 1 })
  try {
    if (scope === 'all') {
      await keepAll(pool, chain)
      return undefined
    }
    const source = sourceOf(chain, portalKey)
    const history = openHistory(source, wantedOf(chain)) // also refuses an address that no history can be read from
    const finalHeight = () => retrying(new Retries(log, { source: history.name }), () => history.finalHeight())
    const { ownFrom, completeTo } = await keepVerified(pool, chain, finalHeight)
    await updateRecipients(pool, chain)
    const rest = completeTo >= 0 ? `; up to block ${completeTo} those of everybody are there and stay` : ''
    log.info(`only settlements of verified addresses are kept${rest}`)
    const warn = (text: string) => log.warn(text)
    const loader = new ScopeLoader({
      databaseUrl,
      chain,
      log,
      finalHeight: () => history.finalHeight(),
      openHistory: (recipients) => openHistory(source, { ...wantedOf(chain), recipients }),
      openWitness: (recipients) => openWitness(source, chain, { ...wantedOf(chain), recipients }, warn),
      findCallsIn: (history, finalHeight) =>
        findCallsIn(history, chain, { finalHeight, attempts: boundedFailures }, warn),
    })
    return { ownFrom, loader }
  } finally {
    await pool.end()
  }
}
