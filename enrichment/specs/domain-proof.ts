import { z } from 'zod'
import type { ChainName } from '../../chains.config.ts'
import type { Chain } from '../../chains.row.ts'
import { DoorError } from '../../net/errors.ts'
import { parseJson } from '../../net/json.ts'
import { second } from '../../ops/time.ts'
import { type AgentHosts, conditionsOf } from '../agent-hosts.ts'
import { isSameSite } from './site.ts'

/** Where each chain has its identity registry. */
export type ChainIdentities = Readonly<Record<ChainName, Pick<Chain, 'id' | 'registry'>>>

/** A registration that an agent holds now. */
export interface HeldRegistration {
  /** CAIP-10 address of the identity registry, lowercase. */
  readonly registry: string
  /** In decimal. */
  readonly agentId: string
}

const path = '/.well-known/agent-registration.json'
const options = { maxBytes: 256 * 1024, timeoutMs: 10 * second, redirects: 3, mayRedirect: isSameSite, ports: [8443] }

const entry = z.object({ agentId: z.union([z.number(), z.string()]), agentRegistry: z.string() })
const file = z.object({ registrations: z.array(z.unknown()) })

/**
 * Whether an origin says that one of these registrations is its own. Undefined: it says neither, as with an error or a
 * page instead of the file. Throws HostClosed when the host is not to be asked.
 *
 * Source: ERC-8004, "Endpoint Domain Verification".
 */
export async function proves(
  hosts: AgentHosts,
  origin: URL,
  registrations: readonly HeldRegistration[],
): Promise<boolean | undefined> {
  try {
    const { status, body } = await hosts.fetch(new URL(path, origin), { ...options, headers: conditionsOf(undefined) })
    if (status === 404 || status === 410) return false
    return status === 200 ? names(parseJson(body), registrations) : undefined
  } catch (error) {
    if (error instanceof DoorError) return undefined
    throw error
  }
}

/**
 * Whether a registration file lists one of the registrations, by chain, registry and id. Undefined: it is no such file.
 */
export function names(value: unknown, registrations: readonly HeldRegistration[]): boolean | undefined {
  const parsed = file.safeParse(value)
  if (!parsed.success) return undefined
  const wanted = new Set(registrations.map(({ registry, agentId }) => key(agentId, registry)))
  return parsed.data.registrations.some((one) => {
    const { data } = entry.safeParse(one)
    return data !== undefined && wanted.has(key(String(data.agentId), data.agentRegistry.toLowerCase()))
  })
}

/** CAIP-10 address of a chain's identity registry. */
export function registryOf({ id, registry }: Pick<Chain, 'id' | 'registry'>): string {
  return `eip155:${id}:${registry.address}`
}

const key = (agentId: string, registry: string) => `${registry}#${agentId}`
