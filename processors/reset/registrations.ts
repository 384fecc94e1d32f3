import type { ChainSettings } from '../../config/chains.file.ts'
import type { Registration } from '../../db/model/registration.model.ts'
import type { RegistrationMetadata } from '../../db/model/registrationMetadata.model.ts'
import { registrationEvents } from '../mapping/registration-events.ts'
import { applyRegistrationEvents, registrationId } from '../mapping/registrations.ts'
import type { FinalChain } from './reader.ts'

/** Registrations as they were at a block, with their metadata. */
export interface Registrations {
  readonly registrations: readonly Registration[]
  readonly metadata: readonly RegistrationMetadata[]
}

/**
 * Some registrations as they were at a block. The tables keep only the present state, so their rows are re-derived from
 * the registry's events since its first block; registrations that were minted later are left out.
 */
export async function registrationsAt(
  block: number,
  ids: readonly string[],
  chain: ChainSettings,
  source: Pick<FinalChain, 'blocks'>,
): Promise<Registrations> {
  const wanted = new Set(ids)
  const registrations = new Map<string, Registration>()
  const metadata = new Map<string, RegistrationMetadata>()
  if (wanted.size === 0) return { registrations: [], metadata: [] }
  for await (const blocks of source.blocks(chain.registry.fromBlock, block)) {
    const events = blocks
      .flatMap((one) => registrationEvents(one, chain.registry.address))
      .filter(({ agentId }) => wanted.has(registrationId(chain.name, agentId)))
    const changes = applyRegistrationEvents(chain.name, [...registrations.values()], events)
    for (const row of changes.registrations) registrations.set(row.id, row)
    for (const row of changes.metadata) metadata.set(row.id, row)
  }
  return { registrations: [...registrations.values()], metadata: [...metadata.values()] }
}
