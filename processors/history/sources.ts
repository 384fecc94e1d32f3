import type { ChainSettings } from '../../config/chains.file.ts'
import { hideAddresses } from '../../hosts/host.ts'
import { isAnswer, Retries, retrying } from '../../hosts/retries.ts'
import { ArchiveClient } from '../archive-client.ts'
import { tokensOf } from '../mapping/scale.ts'
import type { FindCalls } from '../mapping/settlements.ts'
import { createTraceLookup } from '../mapping/traces.ts'
import { PortalClient } from '../portal/client.ts'
import { mayPass } from '../rpc-client.ts'
import { ArchiveHistory } from './archive.ts'
import type { History, Wanted } from './history.ts'
import { clientAt } from './node.ts'
import { PortalHistory } from './portal.ts'
import { RpcHistory } from './rpc.ts'
import { filtersOf, type RpcFilter } from './rpc-logs.ts'
import type { SourceAddress } from './source-address.ts'
import { Witness } from './witness.ts'

export function openHistory(source: SourceAddress, wanted: Wanted): History {
  if (source.kind === 'rpc') return new RpcHistory(source, wanted)
  if (source.kind === 'archive') return new ArchiveHistory(new ArchiveClient(source.url), wanted)
  return new PortalHistory(new PortalClient(source), wanted)
}

/** The chain's node as a witness of what another source leaves out; undefined: there is none, or it is the source. */
export function openWitness(
  source: SourceAddress,
  chain: Pick<ChainSettings, 'rpc' | 'bloom'>,
  wanted: Wanted,
  warn: (text: string) => void,
): Witness | undefined {
  return source.kind === 'rpc' ? undefined : witnessAt(chain, filtersOf(wanted), warn)
}

/** The chain's node as a witness of the logs that match one of the filters; undefined: there is none. */
export function witnessAt(
  { rpc, bloom }: Pick<ChainSettings, 'rpc' | 'bloom'>,
  filters: readonly RpcFilter[],
  warn: (text: string) => void,
): Witness | undefined {
  return rpc ? new Witness(clientAt(rpc), { filters, bloom, warn }) : undefined
}

interface CallOptions {
  /** Newest final block of the history. */
  readonly finalHeight: number
  /** Attempts in a row after which a failure is passed on; absent: it is waited out. */
  readonly attempts?: number | undefined
}

/** Trace lookup as in the chain's processor: in the archive when it holds traces, else at the node. It retries. */
export function findCallsIn(
  history: History,
  chain: ChainSettings,
  { finalHeight, attempts }: CallOptions,
  warn: (text: string) => void,
): FindCalls {
  let isTold = false
  const node = chain.rpc ? clientAt(chain.rpc, chain.batch) : undefined
  const find = createTraceLookup({
    archive: chain.hasTraces ? history.traces : undefined,
    archiveHeight: () => finalHeight,
    node,
    tokens: tokensOf(chain),
    isRefusal: isAnswer,
    mayPass,
    onRefusal(txHash, error) {
      if (isTold) return
      isTold = true
      const reason = `${isAnswer(error) ? `${node?.name}: ` : ''}${hideAddresses(error.message)}`
      warn(`no trace of ${txHash}, selector inferred: ${reason}; others without are not told of`)
    },
  })
  const policy = { source: 'the traces', attempts }
  const log = { warn }
  return (settling) => retrying(new Retries(log, policy), () => find(settling))
}
