import { z } from 'zod'

/** Whether a list of registrations, checked against who holds them now, leads back to an agent. */
export type BackReference = 'confirmed' | 'missing' | 'contradicted'

/** A registration that an agent holds now. */
interface HeldRegistration {
  /** CAIP-10 address of the identity registry, lowercase. */
  readonly registry: string
  /** Number of the registration, in decimal. */
  readonly agentId: string
}

/** Registrations that the agent holds, which a list of a host is compared with. */
export interface Holdings {
  readonly held: readonly HeldRegistration[]
  /** There are more than `held`: what is not among them may be the agent's all the same. */
  readonly isCut: boolean
  /** CAIP-10 addresses of all registries that are indexed; of others nobody knows whose a registration is. */
  readonly registries: ReadonlySet<string>
}

const entry = z.object({ agentId: z.union([z.number(), z.string()]), agentRegistry: z.string() })
const file = z.object({ registrations: z.array(z.unknown()) })

/**
 * What the `registrations` of a file say, by chain, registry and id: one that the agent holds, only those of others, or
 * none that can be checked. Undefined: it is no such file.
 *
 * Source: ERC-8004, "Endpoint Domain Verification".
 */
export function referenceIn(value: unknown, { held, isCut, registries }: Holdings): BackReference | undefined {
  const parsed = file.safeParse(value)
  if (!parsed.success) return undefined
  const wanted = new Set(held.map(({ registry, agentId }) => `${registry}#${agentId}`))
  const listed = parsed.data.registrations.flatMap((one) => {
    const { data } = entry.safeParse(one)
    return data ? [{ registry: data.agentRegistry.toLowerCase(), agentId: String(data.agentId) }] : []
  })
  if (listed.some(({ registry, agentId }) => wanted.has(`${registry}#${agentId}`))) return 'confirmed'
  const isOthers = !isCut && listed.some(({ registry }) => registries.has(registry))
  return isOthers ? 'contradicted' : 'missing'
}
