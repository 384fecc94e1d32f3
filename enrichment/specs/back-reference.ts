import { z } from 'zod'
import { type ListedRegistration, toListedRegistration } from '../agent-uri/listed-registration.ts'

/** Whether a list of registrations, checked against who holds them now, leads back to an agent. */
export type BackReference = 'confirmed' | 'missing' | 'contradicted'

/** Registrations that an agent holds, with which a host's list is compared. */
export interface Holdings {
  readonly held: readonly ListedRegistration[]
  /** Whether the agent holds more than `held`: a registration that is not among them may be the agent's too. */
  readonly isCut: boolean
  /** CAIP-10 addresses of all indexed registries; the holders of registrations in others are unknown. */
  readonly registries: ReadonlySet<string>
}

const file = z.object({ registrations: z.array(z.unknown()) })

/**
 * Compares the `registrations` of a file with the agent's, by chain, registry and id: one is the agent's (`confirmed`),
 * only others' are listed (`contradicted`), or none can be read and checked (`missing`). Undefined: not such a file.
 *
 * Source: ERC-8004, "Endpoint Domain Verification".
 */
export function referenceIn(value: unknown, { held, isCut, registries }: Holdings): BackReference | undefined {
  const parsed = file.safeParse(value)
  if (!parsed.success) return undefined
  const wanted = new Set(held.map(({ registry, agentId }) => `${registry}#${agentId}`))
  const listed = parsed.data.registrations.flatMap((one) => toListedRegistration(one) ?? [])
  if (listed.some(({ registry, agentId }) => wanted.has(`${registry}#${agentId}`))) return 'confirmed'
  const isOthers = !isCut && listed.some(({ registry }) => registries.has(registry))
  return isOthers ? 'contradicted' : 'missing'
}
